"use strict";
// What all views share. Text from the data is put in place by textContent alone; nothing is ever parsed as markup.

const DATA = JSON.parse(document.getElementById("data").textContent);

/** An element with attributes (`text`: its own text; a function: what it does then), and what it holds. */
function element(name, attributes, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "text") made.textContent = value;
    else if (typeof value === "function") made.addEventListener(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, String(value));
  }
  made.append(...content.filter((part) => part !== null && part !== undefined));
  return made;
}

/** What can be scrolled can be reached by keyboard. */
function reachable(room) {
  if (room.scrollHeight > room.clientHeight + 1 || room.scrollWidth > room.clientWidth + 1) room.tabIndex = 0;
  else room.removeAttribute("tabindex");
}

/** A choice among words, and what is done with the one that was chosen. */
function choice(label, id, options, chosen) {
  const select = element("select", { id, change: () => chosen(select.value) });
  for (const [value, words] of options) select.append(element("option", { value, text: words }));
  return element("label", { text: `${label} ` }, select);
}

/** Numbers out of base64, the lowest byte first. */
function unpacked(text, Type) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer), read = `get${Type.name.replace("Array", "")}`;
  return Type.from({ length: bytes.length / Type.BYTES_PER_ELEMENT }, (_, i) => view[read](i * Type.BYTES_PER_ELEMENT, true));
}

/** 0.843 as "84.3 %"; near the ends with the digits that tell it from them. As percent() of document.cpp. */
function percent(share) {
  const p = Math.abs(share - 1) < 1e-8 ? 100 : Math.abs(share) < 1e-11 ? 0 : 100 * share;
  if (!Number.isFinite(p)) return "?";
  if (p > 0 && p < 0.01) return `${p.toPrecision(1)}\u00a0%`;
  if (p > 99 && p < 100) return `${Math.min(p, 99.99).toFixed(2)}\u00a0%`;
  return `${p.toFixed(p === 0 || p === 100 ? 0 : p < 1 ? 2 : 1)}\u00a0%`;
}

const count = (number) => number.toLocaleString("en");
const points = (number) => (Number.isInteger(number) ? `${count(number)} point${number === 1 ? "" : "s"}`
  : `a weight of ${Number(number.toPrecision(4))}`);

/** The value of a variable of the style, as it is now: light or dark. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A button that puts text on the clipboard, also from a file, where browsers may refuse the usual way. */
function copyButton(words, textOf) {
  const button = element("button", { type: "button", text: words, click: async () => {
    button.textContent = await copied(textOf()) ? "Copied" : "Not permitted here: select and copy";
    setTimeout(() => { button.textContent = words; }, 1500);
  } });
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
    const done = document.execCommand("copy");
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
/** Exemplars are shown by their cards already. */
const CARDS = [...document.querySelectorAll(".card")];
const CARD_OF = new Map(CARDS.map((card) => [DATA.exemplars.index[card.dataset.place], card]));

/** The image of a row on a canvas, or null. The sheet is decoded when it is first asked for. */
function imageOf(row) {
  const found = IMAGES.get(row);
  if (!found) return null;
  const { height, width, across } = DATA.images;
  const canvas = element("canvas", { class: "pixels", width, height, role: "img", "aria-label": `image of point ${row}` });
  const sheet = found.sheet;
  if (!sheet.image) {
    sheet.image = new Image();
    sheet.image.src = sheet.source;
  }
  sheet.image.decode().then(() => {
    const left = found.place % across * width, top = Math.floor(found.place / across) * height;
    canvas.getContext("2d").drawImage(sheet.image, left, top, width, height, 0, 0, width, height);
  }, () => canvas.remove());
  return canvas;
}

/** What a row looks like, as far as the page knows: an image, or words; null: it does not. */
function faceOf(row) {
  const image = imageOf(row), card = CARD_OF.get(row), known = ROWS.get(row) || {};
  const picture = known.picture || (card && card.querySelector(".face > img:not(.pixels)") || {}).src;
  if (image) return image;
  if (picture) return element("img", { src: picture, alt: `picture of point ${row}` });
  const text = card && card.querySelector(".face > .text");
  const telling = [...(card ? card.querySelectorAll(".telling tbody tr") : [])].slice(0, 3)
    .map((tr) => `${tr.cells[0].textContent} ${tr.cells[1].textContent} (${tr.cells[2].textContent} sd)`);
  const words = text ? text.textContent : known.text || (known.features || telling).join(", ");
  return words ? element("div", { class: "said", text: words.length > 300 ? `${words.slice(0, 299)}…` : words }) : null;
}
