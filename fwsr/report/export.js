// What people take away: indices, CSV, JSON, and the command that chooses again with some locked or left out.

const taking = {
  locked: new Set(), left: new Set(),

  start() {
    const place = document.querySelector("[data-view=export]");
    if (!place) return;
    const e = DATA.exemplars;
    const ids = e.id && e.id.some((id) => id !== "");
    place.append(element("div", { class: "controls" },
      copyButton("Copy indices", () => e.index.join("\n")),
      ids ? copyButton("Copy ids", () => e.id.join("\n")) : null,
      taking.download("Download CSV", "exemplars.csv", "text/csv", taking.csv),
      taking.download("Download JSON", "exemplars.json", "application/json", taking.json)));
    if (DATA.again) taking.startAgain(place);
  },

  startAgain(place) {
    // Those that were there already are locked from the start.
    DATA.exemplars.included.forEach((there, t) => { if (there) taking.locked.add(t); });
    for (const card of CARDS) {
      const t = Number(card.dataset.place);
      const tick = (words, set, other) => {
        const box = element("input", { type: "checkbox" });
        box.checked = set.has(t);
        box.addEventListener("change", () => {
          box.checked ? set.add(t) : set.delete(t);
          if (box.checked && other.delete(t)) card.querySelectorAll(".ticks input").forEach((b) => { if (b !== box) b.checked = false; });
          taking.showAgain();
        });
        return element("label", {}, box, words);
      };
      card.append(element("div", { class: "ticks", role: "group", "aria-label": `exemplar ${DATA.exemplars.rank[t]}` },
        tick("lock", taking.locked, taking.left), tick("leave out", taking.left, taking.locked)));
    }
    taking.command = element("pre", { id: "again", tabindex: 0, "aria-live": "polite", "aria-label": "command" });
    place.append(element("h3", { text: "Again, with some locked or left out" }),
      element("p", { class: "about", text: "Tick exemplars in the gallery; this chooses the others anew." }), taking.command,
      element("div", { class: "controls" }, copyButton("Copy command", () => taking.command.textContent)));
    taking.showAgain();
  },

  showAgain() {
    const rows = (set) => [...set].sort((a, b) => a - b).map((t) => DATA.exemplars.index[t]);
    const locked = rows(taking.locked), left = rows(taking.left);
    const again = DATA.again, more = Math.max(1, DATA.exemplars.index.length - locked.length);
    if (again.python) {
      const parts = [...again.words.slice(0, 1), again.classes ? again.words[1] : String(more), ...again.words.slice(2)];
      if (locked.length) parts.push(`include=[${locked.join(", ")}]`);
      if (left.length) parts.push(`exclude=[${left.join(", ")}]`);
      taking.command.textContent = `fwsr.select(${parts.join(", ")})`;
      return;
    }
    const lines = [], words = [...again.words];
    if (!again.classes) words.push("-k", String(more));
    if (locked.length) {
      lines.push(`printf '%s\\n' index ${locked.join(" ")} > keep.csv`);
      words.push("--include", "keep.csv");
    }
    if (left.length) {
      lines.push(`printf '%s\\n' index ${left.join(" ")} > leave.csv`);
      words.push("--exclude", "leave.csv");
      if (again.excluded) lines.push(`# and what ${again.excluded} leaves out: add it to leave.csv`);
    } else if (again.excluded) {
      words.push("--exclude", again.excluded);
    }
    taking.command.textContent = [...lines, words.join(" ")].join("\n");
  },

  /** As many as leave no more than a share, and ten times these at the most. */
  until(left) {
    const { words, python } = DATA.again, most = Math.min(DATA.points, 10 * DATA.exemplars.index.length), share = Number(left.toFixed(6));
    const kept = words.filter((word, w) => !/^(--)?until[-_]error/.test(word) && words[w - 1] !== "--until-error");
    return python ? `fwsr.select(${[kept[0], most, ...kept.slice(2), `until_error=${share}`].join(", ")})`
      : [...kept, "-k", most, "--until-error", share].join(" ");
  },

  /** A field of CSV; text that a spreadsheet would take for a formula has an apostrophe in front. */
  field(value) {
    let text = String(value);
    if (/^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text))) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  },

  csv() {
    const e = DATA.exemplars;
    const columns = [["rank", e.rank], ["index", e.index], ...(e.id ? [["id", e.id]] : []), ["weight", e.weight],
      ["strength", e.strength]];
    const lines = e.index.map((_, t) => columns.map(([, values]) => taking.field(values[t] ?? "")).join(","));
    return [columns.map(([name]) => name).join(","), ...lines].join("\n") + "\n";
  },

  json() {
    const { index, ...rest } = DATA.exemplars;
    return JSON.stringify({ exemplars: index, ...rest, error: DATA.curve ? DATA.curve.error : undefined }, null, 2) + "\n";
  },

  download(words, name, type, textOf) {
    return element("button", { type: "button", text: words, click: () => {
      const url = URL.createObjectURL(new Blob([textOf()], { type }));
      const link = element("a", { href: url, download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    } });
  },
};
