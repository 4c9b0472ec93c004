// The map: points on a canvas, to be moved, zoomed, pointed at and listed.

const map = {
  zoom: 1, centre: [0.5, 0.5], by: "", first: Infinity, region: null, pointed: -1,

  start() {
    const place = viewPlace("map");
    if (!place || !DATA.map || !DATA.map.index) return;
    const m = DATA.map;
    map.index = unpacked(m.index, Uint32Array);
    map.n = map.index.length;
    if (!map.n) return;
    map.x = Float32Array.from(unpacked(m.x, Uint16Array), (v) => v / 65535);
    map.y = Float32Array.from(unpacked(m.y, Uint16Array), (v) => 1 - v / 65535);
    map.group = unpacked(m.group, Int32Array);
    map.classes = m.class ? unpacked(m.class, Int16Array) : null;
    map.left = m.left ? unpacked(m.left, Uint8Array) : null;
    // The colours of what is left over go up to what nearly all points stay below.
    if (map.left) map.mostLeft = Math.max(1, Uint8Array.from(map.left).sort()[Math.floor(map.n * 0.99)]) / 255;
    map.place = new Map();
    map.index.forEach((row, i) => map.place.set(row, i));
    map.by = map.classes ? "class" : "group";
    map.build(place);
    map.listen();
    map.draw();
    new ResizeObserver(() => map.draw()).observe(map.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => map.draw());
  },

  build(place) {
    const modes = [map.classes && ["class", "class"], ["group", "exemplar"], map.left && ["error", "what is left over"]];
    const colours = element("select", { id: "map-colours", change: (event) => { map.by = event.target.value; map.draw(); } });
    for (const mode of modes.filter((one) => one)) colours.append(element("option", { value: mode[0], text: mode[1] }));
    const turn = (by) => () => map.zoomAt(by, 0.5, 0.5);
    map.choosing = element("button", { type: "button", "aria-pressed": "false", text: "Select a region",
      click: () => map.choose(map.choosing.getAttribute("aria-pressed") !== "true") });
    map.canvas = element("canvas", { tabindex: 0, role: "img", "aria-describedby": "map-shown",
      "aria-label": `Map of ${count(map.n)} points and ${DATA.exemplars.index.length} exemplars. Arrow keys move, plus and ` +
        "minus zoom, Enter lists what is in view." });
    map.shown = element("div", { class: "shown", id: "map-shown", "aria-live": "polite", text: "Point at something." });
    map.key = element("ul", { class: "key", "aria-label": "Colours" });
    map.list = element("div", { class: "region" });
    place.append(
      element("div", { class: "controls" },
        element("label", { text: "Colour by " }, colours),
        element("button", { type: "button", text: "+", "aria-label": "zoom in", click: turn(1.5) }),
        element("button", { type: "button", text: "−", "aria-label": "zoom out", click: turn(1 / 1.5) }),
        element("button", { type: "button", text: "Show all", click: () => map.reset() }), map.choosing),
      element("div", { class: "plot" },
        element("div", { class: "stage" }, map.canvas,
          element("div", { class: "axes" }, element("span", { text: `→ ${DATA.map.across}` }),
            element("span", { text: `↑ ${DATA.map.up}` }))),
        element("div", { class: "beside" }, map.shown, map.key)),
      map.list);
  },

  // ----------------------------------------------------------------------------------------- places

  toScreen(i) {
    const side = Math.min(map.canvas.clientWidth, map.canvas.clientHeight) * 0.94 * map.zoom;
    return [map.canvas.clientWidth / 2 + (map.x[i] - map.centre[0]) * side * map.stretch(),
      map.canvas.clientHeight / 2 + (map.y[i] - map.centre[1]) * side];
  },
  /** A map may be wider than high: the components have no unit in common with the page. */
  stretch: () => Math.max(1, map.canvas.clientWidth / map.canvas.clientHeight),

  zoomAt(by, u, v) {
    const before = map.zoom;
    map.zoom = Math.min(200, Math.max(0.8, map.zoom * by));
    const change = 1 / before - 1 / map.zoom;
    map.centre[0] += (u - 0.5) * change;
    map.centre[1] += (v - 0.5) * change;
    map.draw();
  },

  moveBy(dx, dy) {
    const side = Math.min(map.canvas.clientWidth, map.canvas.clientHeight) * 0.94 * map.zoom;
    map.centre[0] -= dx / side / map.stretch();
    map.centre[1] -= dy / side;
    map.draw();
  },

  reset() {
    map.zoom = 1;
    map.centre = [0.5, 0.5];
    map.region = null;
    map.list.replaceChildren();
    map.draw();
  },

  choose(on) {
    map.choosing.setAttribute("aria-pressed", String(on));
    map.canvas.classList.toggle("choosing", on);
  },

  showFirst(number) {
    map.first = number;
    if (map.canvas) map.draw();
  },

  // ---------------------------------------------------------------------------------------- drawing

  colourOf(i, palette) {
    if (map.by === "class") return map.classes[i] < 0 ? palette.point : palette.classes[map.classes[i] % CLASS_COLOURS];
    if (map.by === "group") return map.group[i] < 0 ? palette.point : palette.classes[map.group[i] % CLASS_COLOURS];
    const share = Math.min(1, map.left[i] / 255 / map.mostLeft);
    return palette.errors[Math.round(share * (palette.errors.length - 1))];
  },

  palette() {
    const classes = Array.from({ length: CLASS_COLOURS }, (_, c) => colour(`--k${c}`));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const errors = Array.from({ length: 16 }, (_, e) => {
      const share = e / 15;  // from near the paper to orange: lightness alone tells it too
      return dark ? `rgb(${60 + 195 * share}, ${62 + 110 * share}, ${70 - 10 * share})`
        : `rgb(${215 - 40 * share}, ${215 - 155 * share}, ${215 - 215 * share})`;
    });
    return { classes, errors, point: colour("--point"), ink: colour("--ink"), paper: colour("--paper"), accent: colour("--accent") };
  },

  draw() {
    const canvas = map.canvas, sharp = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = Math.round(Math.max(260, Math.min(width * 0.62, innerHeight * 0.75)));
    if (!width) return;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    const pen = canvas.getContext("2d"), palette = map.palette();
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, width, height);
    const size = Math.max(1.5, Math.min(4, 260 / Math.sqrt(map.n))) * Math.min(2.5, Math.sqrt(map.zoom));
    pen.globalAlpha = 0.75;
    for (let i = 0; i < map.n; ++i) {
      const [x, y] = map.toScreen(i);
      if (x < -5 || y < -5 || x > width + 5 || y > height + 5) continue;
      pen.fillStyle = map.colourOf(i, palette);
      pen.fillRect(x - size / 2, y - size / 2, size, size);
    }
    pen.globalAlpha = 1;
    map.drawExemplars(pen, palette);
    if (map.pointed >= 0) map.ring(pen, map.pointed, 9, palette.accent, 3);
    if (map.region) {
      pen.strokeStyle = palette.accent;
      pen.lineWidth = 1.5;
      pen.setLineDash([5, 4]);
      const [x0, y0, x1, y1] = map.region;
      pen.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0));
      pen.setLineDash([]);
    }
    map.showKey(palette);
  },

  drawExemplars(pen, palette) {
    const most = Math.max(1, ...DATA.exemplars.weight);
    DATA.exemplars.index.forEach((row, t) => {
      const i = map.place.get(row);
      if (i === undefined) return;
      pen.globalAlpha = DATA.exemplars.rank[t] < map.first ? 1 : 0.2;
      const radius = 4 + 7 * Math.sqrt((DATA.exemplars.weight[t] || 0) / most);
      const [x, y] = map.toScreen(i);
      pen.beginPath();
      pen.arc(x, y, radius, 0, 7);
      pen.fillStyle = map.colourOf(i, palette);
      pen.fill();
      pen.lineWidth = 3.5;
      pen.strokeStyle = palette.paper;
      pen.stroke();
      pen.lineWidth = 1.8;
      pen.strokeStyle = palette.ink;
      pen.stroke();
    });
    pen.globalAlpha = 1;
  },

  ring(pen, i, radius, style, width) {
    const [x, y] = map.toScreen(i);
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.lineWidth = width;
    pen.strokeStyle = style;
    pen.stroke();
  },

  showKey(palette) {
    const dot = (style) => drawn("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, drawn("circle", { cx: 5, cy: 5, r: 5, fill: style }));
    const entry = (style, words) => element("li", {}, dot(style), words);
    if (map.by === "class")
      map.key.replaceChildren(...DATA.classes.slice(0, 100).map((name, c) => entry(palette.classes[c % CLASS_COLOURS], name)));
    else if (map.by === "error")
      map.key.replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map((s) => entry(palette.errors[Math.round(15 * s)], `${s < 1 ? percent(s * map.mostLeft) : `${percent(map.mostLeft)} or more`} left over`)));
    else map.key.replaceChildren(element("li", { text: "Points have the colour of their exemplar." }));
  },

  // ---------------------------------------------------------------------------------- pointing at it

  nearest(u, v) {
    let best = -1, least = 15 * 15;
    for (let i = 0; i < map.n; ++i) {
      const [x, y] = map.toScreen(i);
      const apart = (x - u) ** 2 + (y - v) ** 2;
      if (apart < least) { least = apart; best = i; }
    }
    return best;
  },

  nameOf(i) {
    const name = DATA.map.names && DATA.map.names[i];
    return `#${map.index[i]}${name ? ` ${name}` : ""}`;
  },

  show(i) {
    if (i === map.pointed) return;
    map.pointed = i;
    map.draw();
    if (i < 0) return;
    const row = map.index[i], g = map.group[i];
    const parts = [element("strong", { text: map.nameOf(i) })];
    const lines = [];
    if (map.classes && map.classes[i] >= 0) lines.push(`class ${DATA.classes[map.classes[i]]}`);
    if (map.left) lines.push(`${percent(map.left[i] / 255)} left over`);
    parts.push(element("p", { text: lines.join(", ") }));
    const face = faceOf(row);
    if (face) parts.push(face);
    if (g >= 0) {
      const exemplar = DATA.exemplars.index[g];
      const itself = exemplar === row;
      parts.push(element("p", {}, itself ? "It is " : "Stood for by ",
        element("a", { href: `#e${g}`, text: `exemplar ${DATA.exemplars.rank[g]}` }), ` (#${exemplar})`));
      const its = itself ? null : imageOf(exemplar);
      if (its) parts.push(its);
    }
    map.shown.replaceChildren(...parts);
  },

  listen() {
    const canvas = map.canvas;
    let from = null;
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      const choosing = event.shiftKey || map.choosing.getAttribute("aria-pressed") === "true";
      from = { at: at(event), choosing };
      if (choosing) map.region = [...from.at, ...from.at];
    });
    canvas.addEventListener("pointermove", (event) => {
      const [u, v] = at(event);
      if (!from) { map.show(map.nearest(u, v)); return; }
      if (from.choosing) { map.region[2] = u; map.region[3] = v; map.draw(); return; }
      map.moveBy(u - from.at[0], v - from.at[1]);
      from.at = [u, v];
    });
    const end = (event) => {
      if (from && from.choosing) map.listRegion(...map.region);
      else if (from) map.show(map.nearest(...at(event)));
      from = null;
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", () => { from = null; });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const [u, v] = at(event);
      map.zoomAt(event.deltaY < 0 ? 1.2 : 1 / 1.2, u / canvas.clientWidth, v / canvas.clientHeight);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const step = 40;
      const does = { ArrowLeft: () => map.moveBy(step, 0), ArrowRight: () => map.moveBy(-step, 0),
        ArrowUp: () => map.moveBy(0, step), ArrowDown: () => map.moveBy(0, -step), "+": () => map.zoomAt(1.3, 0.5, 0.5),
        "=": () => map.zoomAt(1.3, 0.5, 0.5), "-": () => map.zoomAt(1 / 1.3, 0.5, 0.5), 0: () => map.reset(),
        Enter: () => map.listRegion(0, 0, canvas.clientWidth, canvas.clientHeight) }[event.key];
      if (does) { event.preventDefault(); does(); }
    });
  },

  // --------------------------------------------------------------------------------- listing a region

  listRegion(x0, y0, x1, y1) {
    const [left, right] = [Math.min(x0, x1), Math.max(x0, x1)], [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
    const inside = [];
    for (let i = 0; i < map.n; ++i) {
      const [x, y] = map.toScreen(i);
      if (x >= left && x <= right && y >= top && y <= bottom) inside.push(i);
    }
    const most = 200;
    const body = element("tbody", {});
    for (const i of inside.slice(0, most)) {
      const image = imageOf(map.index[i]), g = map.group[i];
      body.append(element("tr", {}, element("th", { scope: "row" }, image, map.nameOf(i)),
        map.classes ? element("td", { text: map.classes[i] < 0 ? "" : DATA.classes[map.classes[i]] }) : null,
        element("td", {}, g < 0 ? "" : element("a", { href: `#e${g}`, text: String(DATA.exemplars.rank[g]) })),
        map.left ? element("td", { text: percent(map.left[i] / 255) }) : null));
    }
    const heads = ["point", map.classes && "class", "exemplar", map.left && "left over"].filter((one) => one);
    map.list.replaceChildren(
      element("p", { role: "status", text: `${count(inside.length)} points in this region` +
        (inside.length > most ? `, the first ${most} of them:` : inside.length ? ":" : ".") }),
      inside.length ? copyButton("Copy their indices", () => inside.map((i) => map.index[i]).join("\n")) : "",
      inside.length ? element("div", { class: "scroll" }, element("table", {},
        element("thead", {}, element("tr", {}, ...heads.map((h) => element("th", { scope: "col", text: h })))), body)) : "");
    map.draw();
  },
};
