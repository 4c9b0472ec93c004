// Tables that are sorted by a click on the head of a column; bars of a comparison; the heat map of a sweep.

const tables = {
  start() {
    for (const table of document.querySelectorAll("table.sortable")) tables.makeSortable(table);
    tables.startBars();
    tables.startHeat();
  },

  makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const words = head.textContent;
      head.replaceChildren(element("button", { type: "button", text: words, click: () => tables.sort(table, head, column) }));
    });
  },

  /** The better first; again: the other way round. Rows without a value come last. */
  sort(table, head, column) {
    const up = head.getAttribute("aria-sort");
    const better = head.dataset.less === "no" ? "descending" : "ascending";
    const now = up === null ? better : up === "ascending" ? "descending" : "ascending";
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", now);
    const sign = now === "ascending" ? 1 : -1;
    const valueOf = (row) => {
      const cell = row.cells[column];
      if (!cell || cell.colSpan > 1) return null;
      if (column === 0) return cell.textContent;
      return cell.dataset.value === undefined ? (cell.textContent || null) : Number(cell.dataset.value);
    };
    const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
  },

  startBars() {
    const place = viewPlace("bars");
    if (!place || !DATA.measures || !DATA.measures.length) return;
    const select = element("select", { id: "bars-measure", change: () => show() });
    DATA.measures.forEach((m, i) => select.append(element("option", { value: i, text: m.title })));
    const room = element("div", {});
    const about = element("p", { class: "about" });
    const show = () => {
      const m = DATA.measures[Number(select.value)];
      const most = Math.max(0, ...m.means.filter((v) => v !== null)) || 1;
      const line = 26, left = 150, width = 720;
      const svg = drawn("svg", { viewBox: `0 0 ${width} ${line * m.means.length}`, role: "img",
        "aria-label": `${m.title}: ${DATA.methods.map((name, i) => `${name} ${m.words[i]}`).join(", ")}` });
      DATA.methods.forEach((name, i) => {
        const long = m.means[i] === null ? 0 : Math.max(0, m.means[i]) / most * (width - left - 170);
        svg.append(drawn("text", { x: left - 8, y: line * i + 17, "text-anchor": "end", text: name.length > 22 ? `${name.slice(0, 21)}…` : name }),
          drawn("rect", { class: "fill", x: left, y: line * i + 4, width: long, height: line - 8 }),
          drawn("text", { x: left + long + 6, y: line * i + 17, text: m.means[i] === null ? "-" : m.words[i] }));
      });
      room.replaceChildren(svg);
      about.textContent = `${m.about}; ${m.less ? "less" : "more"} is better`;
    };
    place.append(element("div", { class: "controls" }, element("label", { text: "Bars of " }, select)), about, room);
    show();
  },

  startHeat() {
    const place = viewPlace("heat");
    if (!place || !DATA.settings) return;
    const alphas = [...new Set(DATA.settings.map((s) => s.alpha))], etas = [...new Set(DATA.settings.map((s) => s.eta))];
    const errors = DATA.settings.map((s) => s.error).filter((e) => e !== null);
    if (!errors.length) return;
    const low = Math.min(...errors), high = Math.max(...errors);
    const left = 90, top = 44, wide = Math.max(70, Math.min(120, 620 / etas.length)), line = 40;
    const svg = drawn("svg", { class: "heat", viewBox: `0 0 ${Math.max(720, left + wide * etas.length + 10)} ${top + line * alphas.length + 8}`, role: "img",
      "aria-label": `Share left over by alpha and eta, from ${percent(low)} to ${percent(high)}; the table below has all numbers` });
    svg.append(drawn("text", { x: left, y: 14, text: "eta" }), drawn("text", { x: left - 10, y: top - 8, "text-anchor": "end", text: "alpha" }));
    etas.forEach((eta, c) => svg.append(drawn("text", { x: left + wide * (c + 0.5), y: top - 8, "text-anchor": "middle", text: String(eta) })));
    alphas.forEach((alpha, r) => svg.append(drawn("text", { x: left - 10, y: top + line * r + 25, "text-anchor": "end", text: alpha })));
    DATA.settings.forEach((s, i) => {
      if (s.error === null) return;
      const share = high > low ? (s.error - low) / (high - low) : 0;
      const x = left + wide * etas.indexOf(s.eta), y = top + line * alphas.indexOf(s.alpha);
      const cell = drawn("a", { href: `#s${i}` },
        drawn("rect", { x, y, width: wide, height: line, fill: `rgb(${235 - 235 * share * 0.95}, ${243 - 140 * share}, ${248 - 85 * share})` }),
        drawn("text", { class: share > 0.8 ? "on-dark" : "on-light", x: x + wide / 2, y: y + 25, "text-anchor": "middle", text: percent(s.error) }));
      svg.append(cell);
    });
    place.append(svg);
  },
};
