// What the first k exemplars span: the slider, the share that is wanted, and the groups of so many.

const enough = {
  start() {
    const svg = document.getElementById("curve");
    if (!svg) return;
    const { error, random, classes } = DATA.curve, k = error.length, place = svg.dataset;
    const spans = [0, ...error.map((e) => 1 - e)], byChance = [0, ...random.map((e) => 1 - e)];
    const each = classes ? " of each class" : "";
    const mark = svg.querySelector(".mark"), here = svg.querySelector(".here");
    const between = (low, high, share) => Number(low) + (high - low) * share;
    const slider = element("input", { type: "range", min: 1, max: k, step: 1, id: "k-slider",
      "aria-label": `how many exemplars${each}` });
    slider.value = k;
    // Its ends stand below 1 and k of the axis, half a handle beyond them.
    const first = between(place.left, place.right, 1 / k) / 7.2, last = place.right / 7.2;
    slider.style.marginInlineStart = `calc(${first}% - 8px)`;
    slider.style.width = `calc(${last - first}% + 16px)`;
    slider.hidden = k === 1;
    const share = element("input", { type: "number", min: 1, max: 100, step: 1, value: 80, id: "k-share" });
    const said = element("p", { class: "said", role: "status" });
    const answer = element("output", { for: "k-share" }), more = element("pre", { id: "more", tabindex: 0, "aria-label": "command for more", hidden: true });

    const show = () => {
      const number = Number(slider.value), x = between(place.left, place.right, number / k);
      mark.setAttribute("x1", x);
      mark.setAttribute("x2", x);
      here.setAttribute("cx", x);
      here.setAttribute("cy", between(place.bottom, place.top, spans[number]));
      const weights = enough.weights(number);
      said.textContent = `The first ${number}${each} span ${percent(spans[number])}; as many at random span ` +
        `${percent(byChance[number])}.${weights || number === k ? "" : " Their groups are shown as those of all exemplars."}`;
      map.showFirst(weights ? number : Infinity, number);
      gallery.showFirst(number, weights || DATA.exemplars.weight, number === k || !weights);
    };
    const find = () => {
      const first = spans.findIndex((s) => s >= Number(share.value) / 100);
      answer.textContent = first >= 0 ? `${Math.max(first, 1)} exemplar${first > 1 ? "s" : ""}${each}`
        : `more than these ${k}, which span ${percent(spans[k])}${DATA.again && !classes ? "; to choose as many as are needed:" : ""}`;
      more.hidden = first >= 0 || classes || !DATA.again;
      more.textContent = more.hidden ? "" : taking.until(1 - Number(share.value) / 100);
      return first;
    };
    slider.addEventListener("input", show);
    share.addEventListener("input", () => {
      const first = find();
      if (first >= 1) { slider.value = first; show(); }
    });
    svg.after(slider, said, element("div", { class: "controls" },
      element("label", { text: "The smallest number for " }, share, " %:"), answer), more);
    show();
    find();
  },

  /** How many points each stands for when only the first are there; null: the page does not know. */
  weights(number) {
    const e = DATA.exemplars;
    if (!DATA.moves || number >= DATA.curve.error.length) return DATA.moves ? e.weight : null;
    const weights = e.index.map(() => 0), { from, to, weight } = DATA.moves;
    to.forEach((t, m) => {
      if (e.rank[t] >= number) return;
      weights[t] += weight[m];
      if (from[m] >= 0) weights[from[m]] -= weight[m];
    });
    return weights;
  },
};
