// Curves as SVG: what the first k exemplars span, and the steps of the run.

const SHEET = { width: 720, height: 300, left: 56, right: 14, top: 14, bottom: 40 };

/** Round numbers between two. */
function ticksBetween(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((s) => s * power >= rough);
  const ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) ticks.push(Number(v.toPrecision(12)));
  return ticks;
}

/** An empty plot with its axes. x and y turn numbers into places. */
function plotOf({ xs, ys, across, up, yText, xTicks }) {
  const s = SHEET;
  const x = (v) => s.left + (v - xs[0]) / (xs[1] - xs[0] || 1) * (s.width - s.left - s.right);
  const y = (v) => s.height - s.bottom - (v - ys[0]) / (ys[1] - ys[0] || 1) * (s.height - s.top - s.bottom);
  const svg = drawn("svg", { viewBox: `0 0 ${s.width} ${s.height}`, role: "img" });
  for (const v of ticksBetween(ys[0], ys[1], 5)) {
    svg.append(drawn("line", { class: "axis", x1: s.left, x2: s.width - s.right, y1: y(v), y2: y(v) }));
    svg.append(drawn("text", { x: s.left - 8, y: y(v) + 4, "text-anchor": "end", text: yText(v) }));
  }
  for (const v of xTicks || ticksBetween(xs[0], xs[1], 8))
    svg.append(drawn("text", { x: x(v), y: s.height - s.bottom + 18, "text-anchor": "middle", text: count(v) }));
  svg.append(drawn("text", { x: s.width - s.right, y: s.height - 6, "text-anchor": "end", text: across }));
  if (up) svg.append(drawn("text", { x: s.left, y: s.top - 2, text: up }));
  return { svg, x, y };
}

const pathOf = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

const enough = {
  start() {
    const place = viewPlace("curve");
    if (!place || !DATA.curve) return;
    const { error, random } = DATA.curve;
    const k = error.length;
    const spans = [0, ...error.map((e) => 1 - e)], byChance = [0, ...random.map((e) => 1 - e)];
    const each = DATA.curve.classes ? " of each class" : "";
    const { svg, x, y } = plotOf({ xs: [0, k], ys: [0, 1], across: `exemplars${each}`, up: null,
      yText: (v) => `${Math.round(100 * v)} %` });
    svg.setAttribute("aria-label", `Share of the points spanned by the first exemplars: ${percent(spans[k])} by all ${k}, ` +
      `${percent(byChance[k])} by as many at random`);
    const line = (values) => pathOf(values.map((v, i) => [x(i), y(v)]));
    svg.append(drawn("path", { class: "drawn", d: line(byChance) }), drawn("path", { class: "run", d: line(spans) }));
    svg.append(drawn("text", { class: "of-run", x: x(k), y: y(spans[k]) - 8, "text-anchor": "end", text: "these exemplars" }));
    svg.append(drawn("text", { class: "of-drawn", x: x(k), y: y(byChance[k]) + 18, "text-anchor": "end", text: "random points" }));
    const mark = drawn("line", { class: "mark", y1: y(0), y2: y(1) });
    const here = drawn("circle", { class: "here", r: 6 });
    svg.append(mark, here);

    const slider = element("input", { type: "range", min: 1, max: k, step: 1, value: k, id: "k-slider",
      "aria-label": `how many exemplars${each}` });
    const share = element("input", { type: "number", min: 1, max: 100, step: 1, value: 80, id: "k-share" });
    const said = saying({});
    const answer = element("output", { for: "k-share" });

    const show = () => {
      const number = Number(slider.value);
      for (const name of ["x1", "x2"]) mark.setAttribute(name, x(number));
      here.setAttribute("cx", x(number));
      here.setAttribute("cy", y(spans[number]));
      said.textContent = `The first ${number}${each} span ${percent(spans[number])}; ` +
        `as many at random span ${percent(byChance[number])}.`;
      gallery.showFirst(number);
      map.showFirst(number);
    };
    const find = () => {
      const wanted = Number(share.value) / 100;
      const first = spans.findIndex((s) => s >= wanted);
      answer.textContent = first >= 0 ? `${Math.max(first, 1)} exemplars${each}` : `more than these ${k}`;
      return first;
    };
    slider.addEventListener("input", show);
    share.addEventListener("input", () => {
      const first = find();
      if (first >= 1) { slider.value = first; show(); }
    });
    place.append(svg, slider, said, element("div", { class: "controls" },
      element("label", { text: "The smallest number for " }, share, " %:"), answer));
    show();
    find();
  },
};

const trace = {
  start() {
    const place = viewPlace("trace");
    if (!place || !DATA.trace) return;
    const { step, f, gap } = DATA.trace;
    const logs = (values) => values.map((v) => (v > 0 ? Math.log10(v) : null));
    const curves = [["run", logs(f), "f"], ["drawn", logs(gap), "gap"]];
    const all = curves.flatMap(([, values]) => values).filter((v) => v !== null);
    if (!all.length) return;
    const low = Math.floor(Math.min(...all)), high = Math.max(Math.ceil(Math.max(...all)), low + 1);
    const { svg, x, y } = plotOf({ xs: [0, step[step.length - 1] || 1], ys: [low, high], across: "step", up: null,
      yText: (v) => (Number.isInteger(v) ? `1e${v}` : "") });
    svg.setAttribute("aria-label", `Objective and gap over ${step.length} steps`);
    for (const [style, values, name] of curves) {
      const there = values.map((v, i) => (v === null ? null : [x(step[i]), y(v)])).filter((p) => p);
      if (!there.length) continue;
      const [lastX, lastY] = there[there.length - 1];
      svg.append(drawn("path", { class: style, d: pathOf(there) }));
      svg.append(drawn("text", { class: `of-${style}`, x: lastX, y: lastY - 8, "text-anchor": "end", text: name }));
    }
    place.append(svg);
  },
};
