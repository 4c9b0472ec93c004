// The map: points on a canvas, to be moved, zoomed, pointed at and listed.

const CLASS_COLOURS = 21;
const className = (c) => DATA.classes[c] || "(no name)";

const map = {
  zoom: 1, centre: [0.5, 0.5], by: "group", first: Infinity, region: null, pointed: -1,

  start() {
    const place = document.querySelector("[data-view=map]"), m = DATA.map;
    if (!place || !m || !m.index) return;
    map.index = unpacked(m.index, Uint32Array);
    map.n = map.index.length;
    map.x = Float32Array.from(unpacked(m.x, Uint16Array), (v) => v / 65535);
    map.y = Float32Array.from(unpacked(m.y, Uint16Array), (v) => 1 - v / 65535);
    map.classes = m.class ? unpacked(m.class, Int16Array) : null;
    map.left = m.left ? unpacked(m.left, Uint16Array) : null;
    map.turns = unpacked(m.turns, m.wide ? Uint16Array : Uint8Array);
    map.groups = unpacked(m.groups, m.wide ? Uint16Array : Uint8Array);
    map.now = new Int32Array(map.n);
    map.regroup();
    // The colours of what is left over go up to what nearly all points stay below.
    if (map.left) map.mostLeft = Math.max(1, Uint16Array.from(map.left).sort()[Math.floor(map.n * 0.99)]) / 65535;
    map.place = new Map(Array.from(map.index, (row, i) => [row, i]));
    if (map.classes) map.by = "class";
    map.build(place);
    map.listen();
    map.draw();
    new ResizeObserver(() => map.draw()).observe(map.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => map.draw());
  },

  build(place) {
    const modes = [map.classes && ["class", "class"], ["group", "exemplar"], map.left && ["error", "what is left over"]];
    const turn = (by) => () => map.zoomAt(by, 0.5, 0.5);
    map.choosing = element("button", { type: "button", "aria-pressed": "false", text: "Select a region",
      click: () => map.choose(!map.isChoosing()) });
    map.canvas = element("canvas", { tabindex: 0, role: "img", "aria-describedby": "map-shown",
      "aria-label": `Map of ${count(map.n)} points and ${DATA.exemplars.index.length} exemplars. Arrow keys move, plus and ` +
        "minus zoom, Enter lists what is in view." });
    map.shown = element("div", { class: "shown", id: "map-shown", "aria-live": "polite", text: "Point at something." });
    map.key = element("ul", { class: "key", "aria-label": "Colours" });
    map.list = element("div", { class: "region" });
    place.append(
      element("div", { class: "controls" },
        choice("Colour by", "map-colours", modes.filter((one) => one), (by) => { map.by = by; map.draw(); }),
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

  // ----------------------------------------------------------------------------------------- groups

  /** Who stands for each point when only the first exemplars are there: the last it went to that is among them. */
  regroup() {
    const rank = DATA.exemplars.rank;
    for (let i = 0, at = 0; i < map.n; at += map.turns[i], ++i) {
      let last = at + map.turns[i] - 1;
      while (last >= at && rank[map.groups[last]] >= map.first) --last;
      map.now[i] = last < at ? -1 : map.groups[last];
    }
  },

  /** `groups`: of how many exemplars; `number` of them are drawn in full. */
  showFirst(groups, number) {
    map.number = number;
    if (!map.canvas) return;
    map.weights = enough.weights(number) || DATA.exemplars.weight;
    map.first = groups;
    map.regroup();
    map.draw();
  },

  /** The classes of each group, in words, as far as the map has its points. */
  mixes() {
    const mixes = DATA.exemplars.index.map(() => new Map());
    for (let i = 0; map.classes && i < map.n; ++i)
      if (map.now[i] >= 0 && map.classes[i] >= 0)
        mixes[map.now[i]].set(map.classes[i], (mixes[map.now[i]].get(map.classes[i]) || 0) + 1);
    return mixes.map((mix) => {
      const parts = [...mix].sort(([a, m], [b, n]) => n - m || a - b), all = parts.reduce((sum, [, n]) => sum + n, 0);
      const words = parts.slice(0, 3).map(([c, n]) => `${className(c)}:\u00a0${percent(n / all)}`).join(", ");
      return `classes of its points${map.n < DATA.points ? " in the map" : ""}: ${words || "none"}` +
        (parts.length > 3 ? ` and ${parts.length - 3} more` : "");
    });
  },

  // ----------------------------------------------------------------------------------------- places

  /** Pixels of the screen for the width and the height of the map: components have no unit in common with a page. */
  sides() {
    const { clientWidth, clientHeight } = map.canvas, side = Math.min(clientWidth, clientHeight) * 0.94 * map.zoom;
    return [side * Math.max(1, clientWidth / clientHeight), side];
  },
  toScreen(i, [wide, high] = map.sides()) {
    return [map.canvas.clientWidth / 2 + (map.x[i] - map.centre[0]) * wide,
      map.canvas.clientHeight / 2 + (map.y[i] - map.centre[1]) * high];
  },

  zoomAt(by, u, v) {
    const before = map.zoom;
    map.zoom = Math.min(200, Math.max(0.8, map.zoom * by));
    map.centre[0] += (u - 0.5) * (1 / before - 1 / map.zoom);
    map.centre[1] += (v - 0.5) * (1 / before - 1 / map.zoom);
    map.region = null;
    map.draw();
  },

  moveBy(dx, dy) {
    const [wide, high] = map.sides();
    map.centre[0] -= dx / wide;
    map.centre[1] -= dy / high;
    map.region = null;
    map.draw();
  },

  reset() {
    map.zoom = 1;
    map.centre = [0.5, 0.5];
    map.region = null;
    map.list.replaceChildren();
    map.draw();
  },

  isChoosing: () => map.choosing.getAttribute("aria-pressed") === "true",
  choose(on) {
    map.choosing.setAttribute("aria-pressed", String(on));
    map.canvas.classList.toggle("choosing", on);
  },

  // ---------------------------------------------------------------------------------------- drawing

  colourOf(i, palette) {
    if (map.by === "error") return palette.errors[Math.round(Math.min(1, map.left[i] / 65535 / map.mostLeft) * 15)];
    const which = map.by === "class" ? map.classes[i] : map.now[i];
    return which < 0 ? palette.point : palette.classes[which % CLASS_COLOURS];
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
    const pen = canvas.getContext("2d"), palette = map.palette(), sides = map.sides();
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    pen.fillStyle = palette.paper;
    pen.fillRect(0, 0, width, height);
    const size = Math.max(1.5, Math.min(4, 260 / Math.sqrt(map.n))) * Math.min(2.5, Math.sqrt(map.zoom));
    pen.globalAlpha = 0.75;
    for (let i = 0; i < map.n; ++i) {
      const [x, y] = map.toScreen(i, sides);
      if (x < -5 || y < -5 || x > width + 5 || y > height + 5) continue;
      pen.fillStyle = map.colourOf(i, palette);
      pen.fillRect(x - size / 2, y - size / 2, size, size);
    }
    map.drawExemplars(pen, palette);
    pen.globalAlpha = 1;
    if (map.pointed >= 0) map.circle(pen, map.pointed, 9, palette.accent, 3);
    if (map.region) {
      const [x0, y0, x1, y1] = map.region;
      pen.strokeStyle = palette.accent;
      pen.lineWidth = 1.5;
      pen.setLineDash([5, 4]);
      pen.strokeRect(x0, y0, x1 - x0, y1 - y0);
      pen.setLineDash([]);
    }
    map.showKey(palette);
  },

  /** The larger the more points they stand for, and ringed. */
  drawExemplars(pen, palette) {
    const weights = map.weights || DATA.exemplars.weight, most = Math.max(1e-300, ...weights);
    DATA.exemplars.index.forEach((row, t) => {
      const i = map.place.get(row);
      if (i === undefined) return;
      pen.globalAlpha = DATA.exemplars.rank[t] < (map.number || Infinity) ? 1 : 0.2;
      pen.fillStyle = map.colourOf(i, palette);
      map.circle(pen, i, 4 + 7 * Math.sqrt(weights[t] / most), palette.paper, 3.5, true);
      pen.lineWidth = 1.8;
      pen.strokeStyle = palette.ink;
      pen.stroke();
    });
  },

  circle(pen, i, radius, style, width, filled) {
    pen.beginPath();
    pen.arc(...map.toScreen(i), radius, 0, 7);
    if (filled) pen.fill();
    pen.lineWidth = width;
    pen.strokeStyle = style;
    pen.stroke();
  },

  showKey(palette) {
    const entry = (style, words) => {
      const dot = element("span", { class: "dot" });
      dot.style.background = style;
      return element("li", {}, dot, words);
    };
    const left = (s) => `${percent(s * map.mostLeft)}${s < 1 ? "" : " or more"} left over`;
    const most = 60;
    if (map.by === "class")
      map.key.replaceChildren(...DATA.classes.slice(0, most).map((_, c) => entry(palette.classes[c % CLASS_COLOURS], className(c))),
        DATA.classes.length > most ? element("li", { text: `and ${count(DATA.classes.length - most)} more` }) : "");
    else if (map.by === "error")
      map.key.replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map((s) => entry(palette.errors[Math.round(15 * s)], left(s))));
    else map.key.replaceChildren(element("li", { text: "Points have the colour of their exemplar." }));
    reachable(map.key);
  },

  // ---------------------------------------------------------------------------------- pointing at it

  nearest(u, v) {
    let best = -1, least = 15 * 15;
    const sides = map.sides();
    for (let i = 0; i < map.n; ++i) {
      const [x, y] = map.toScreen(i, sides);
      const apart = (x - u) ** 2 + (y - v) ** 2;
      if (apart < least) { least = apart; best = i; }
    }
    return best;
  },

  nameOf(i) {
    const name = DATA.map.names && DATA.map.names[i];
    return `#${map.index[i]}${name ? ` ${name}` : ""}`;
  },
  classOf: (i) => (map.classes && map.classes[i] >= 0 ? className(map.classes[i]) : ""),
  linkTo: (g, words) => (g < 0 ? "" : element("a", { href: `#e${g}`, text: `${words}${DATA.exemplars.rank[g]}` })),

  show(i) {
    if (i === map.pointed) return;
    map.pointed = i;
    map.draw();
    if (i < 0) return;
    const row = map.index[i], g = map.now[i], exemplar = DATA.exemplars.index[g];
    const lines = [map.classes && map.classes[i] >= 0 && `class ${map.classOf(i)}`, map.left && `${percent(map.left[i] / 65535)} left over`];
    const by = g < 0 ? "" : element("p", {}, exemplar === row ? "It is " : "Stood for by ", map.linkTo(g, "exemplar "), ` (#${exemplar})`);
    map.shown.replaceChildren(element("strong", { text: map.nameOf(i) }), element("p", { text: lines.filter((one) => one).join(", ") }),
      faceOf(row) || "", by, g >= 0 && exemplar !== row ? imageOf(exemplar) || "" : "");
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
      from = { at: at(event), choosing: event.shiftKey || map.isChoosing() };
      if (from.choosing) map.region = [...from.at, ...from.at];
    });
    canvas.addEventListener("pointermove", (event) => {
      const [u, v] = at(event);
      if (!from) { map.show(map.nearest(u, v)); return; }
      if (from.choosing) { map.region.splice(2, 2, u, v); map.draw(); return; }
      map.moveBy(u - from.at[0], v - from.at[1]);
      from.at = [u, v];
    });
    canvas.addEventListener("pointerup", (event) => {
      if (from && from.choosing) map.listRegion(...map.region);
      else if (from) map.show(map.nearest(...at(event)));
      from = null;
    });
    canvas.addEventListener("pointercancel", () => { from = null; });
    // Who scrolls past the map wants to go on scrolling: it zooms once it was clicked, or with Ctrl.
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      const [u, v] = at(event);
      map.zoomAt(event.deltaY < 0 ? 1.2 : 1 / 1.2, u / canvas.clientWidth, v / canvas.clientHeight);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const step = 40, zoom = (by) => () => map.zoomAt(by, 0.5, 0.5);
      const does = { ArrowLeft: () => map.moveBy(step, 0), ArrowRight: () => map.moveBy(-step, 0),
        ArrowUp: () => map.moveBy(0, step), ArrowDown: () => map.moveBy(0, -step), "+": zoom(1.3), "=": zoom(1.3),
        "-": zoom(1 / 1.3), 0: () => map.reset(),
        Enter: () => map.listRegion(0, 0, canvas.clientWidth, canvas.clientHeight) }[event.key];
      if (does) { event.preventDefault(); does(); }
    });
  },

  // --------------------------------------------------------------------------------- listing a region

  listRegion(x0, y0, x1, y1) {
    const [left, right] = [Math.min(x0, x1), Math.max(x0, x1)], [top, bottom] = [Math.min(y0, y1), Math.max(y0, y1)];
    const inside = [...map.index.keys()].filter((i) => {
      const [x, y] = map.toScreen(i);
      return x >= left && x <= right && y >= top && y <= bottom;
    });
    const most = 200;
    const body = element("tbody", {});
    for (const i of inside.slice(0, most))
      body.append(element("tr", {}, element("th", { scope: "row" }, imageOf(map.index[i]), map.nameOf(i)),
        map.classes ? element("td", { text: map.classOf(i) }) : null, element("td", {}, map.linkTo(map.now[i], "")),
        map.left ? element("td", { text: percent(map.left[i] / 65535) }) : null));
    const heads = ["point", map.classes && "class", "exemplar", map.left && "left over"].filter((one) => one);
    const said = element("p", { role: "status", text: `${count(inside.length)} points in this region` +
      (inside.length > most ? `, the first ${most} of them:` : inside.length ? ":" : ".") });
    map.list.replaceChildren(said);
    if (inside.length)
      map.list.append(copyButton("Copy their indices", () => inside.map((i) => map.index[i]).join("\n")),
        element("div", { class: "scroll" }, element("table", {},
          element("thead", {}, element("tr", {}, ...heads.map((h) => element("th", { scope: "col", text: h })))), body)));
    map.draw();
  },
};
