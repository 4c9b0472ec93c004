"use strict";
// What all views share. Text from the data is put in place by textContent alone; nothing is ever parsed as markup.

const DATA = JSON.parse(document.getElementById("data").textContent);

/** An element with attributes, its own text, and what it holds. */
function element(name, attributes, ...content) {
  const made = document.createElement(name);
  return filled(made, attributes, content);
}

/** The same of SVG. */
function drawn(name, attributes, ...content) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, content);
}

function filled(made, attributes, content) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "text") made.textContent = value;
    else if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  made.append(...content.filter((part) => part !== null && part !== undefined));
  return made;
}

/** The place for a view, or null where the page has none. */
function viewPlace(name) {
  return document.querySelector(`[data-view="${name}"]`);
}

/** Numbers out of base64, the lowest byte first. */
function unpacked(text, Type) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  const size = Type.BYTES_PER_ELEMENT;
  const out = new Type(bytes.length / size);
  const view = new DataView(bytes.buffer);
  const read = { Uint8Array: "getUint8", Uint16Array: "getUint16", Int16Array: "getInt16", Int32Array: "getInt32",
    Uint32Array: "getUint32" }[Type.name];
  for (let i = 0; i < out.length; ++i) out[i] = view[read](i * size, true);
  return out;
}

/** 0.843 as "84.3 %"; near 1 with the digits that tell it from 1. */
function percent(share) {
  if (!Number.isFinite(share)) return "?";
  const p = 100 * share;
  if (p > 99 && p < 100) return `${Math.min(p, 99.99).toFixed(2)}\u00a0%`;
  return `${p.toFixed(p > 0 && p < 1 ? 2 : 1)}\u00a0%`;
}

const count = (number) => number.toLocaleString("en");

/** The value of a variable of the style, as it is now: light or dark. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const CLASS_COLOURS = 21;

/** Says something to who listens and to who reads. */
function saying(attributes) {
  return element("p", { class: "said", role: "status", "aria-live": "polite", ...attributes });
}

/** A button that puts text on the clipboard, also from a file, where browsers may refuse the usual way. */
function copyButton(words, textOf) {
  const button = element("button", { type: "button", text: words });
  button.addEventListener("click", async () => {
    const done = await copied(textOf());
    button.textContent = done ? "Copied" : "Not permitted here: select and copy";
    setTimeout(() => { button.textContent = words; }, 1500);
  });
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const room = element("textarea", { readonly: true, "aria-label": "to be copied" });
    room.value = text;
    document.body.append(room);
    room.select();
    let done = false;
    try { done = document.execCommand("copy"); } catch { done = false; }
    room.remove();
    return done;
  }
}

// ------------------------------------------------------------------------------------------------ points

/** Where the image of a row is: its sheet and its place there. */
const IMAGES = new Map();
for (const sheet of (DATA.images ? DATA.images.sheets : []))
  sheet.rows.forEach((row, place) => IMAGES.set(row, { sheet, place }));

const ROWS = new Map((DATA.rows || []).map((row) => [row.i, row]));

/** The image of a row on a canvas, or null. The sheet is decoded when it is first asked for. */
function imageOf(row) {
  const found = IMAGES.get(row);
  if (!found) return null;
  const { height, width, across } = DATA.images;
  const canvas = element("canvas", { class: "pixels", width, height, role: "img", "aria-label": `image of point ${row}` });
  const sheet = found.sheet;
  if (!sheet.loading) {
    sheet.loading = new Promise((done, failed) => {
      const image = new Image();
      image.onload = () => done(image);
      image.onerror = failed;
      image.src = sheet.source;
    });
  }
  sheet.loading.then((image) => {
    const left = found.place % across * width, top = Math.floor(found.place / across) * height;
    canvas.getContext("2d").drawImage(image, left, top, width, height, 0, 0, width, height);
  }, () => canvas.remove());
  return canvas;
}

/** What a row looks like, as far as the page knows: an image, or words; null: it does not. */
function faceOf(row) {
  const image = imageOf(row);
  if (image) return image;
  const known = ROWS.get(row);
  if (!known) return null;
  if (known.picture) return element("img", { src: known.picture, alt: `picture of point ${row}` });
  const words = known.text || (known.features || []).join(", ");
  return words ? element("div", { class: "said", text: words }) : null;
}
