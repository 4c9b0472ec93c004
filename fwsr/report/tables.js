// Tables that are sorted by a click on the head of a column.

const tables = {
  start() {
    for (const table of document.querySelectorAll("table.sortable"))
      [...table.tHead.rows[0].cells].forEach((head, column) => head.replaceChildren(element("button",
        { type: "button", text: head.textContent, click: () => tables.sort(table, head, column) })));
  },

  /** The better first; again: the other way round. Rows without a value come last. */
  sort(table, head, column) {
    const before = head.getAttribute("aria-sort"), better = head.dataset.less === "no" ? "descending" : "ascending";
    const now = before === null ? better : before === "ascending" ? "descending" : "ascending";
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", now);
    const sign = now === "ascending" ? 1 : -1;
    const valueOf = (row) => {
      const cell = row.cells[column];
      if (!cell || cell.colSpan > 1) return null;
      return cell.dataset.value === undefined ? (cell.textContent || null) : Number(cell.dataset.value);
    };
    const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row), row]);
    rows.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
  },
};
