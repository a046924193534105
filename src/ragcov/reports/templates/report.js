"use strict";
(() => {
  const table = document.getElementById("samples");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const tools = document.querySelector(".tools");
  const words = document.getElementById("words");
  const state = document.getElementById("state");
  const count = document.getElementById("count");
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const texts = rows.map((row) => fold(row.textContent));
  tools.hidden = false;
  tools.addEventListener("submit", (event) => event.preventDefault());

  const filter = () => {
    const wanted = fold(words.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      const kind = !state.value || row.dataset.kind === state.value;
      row.hidden = !(kind && wanted.every((word) => texts[i].includes(word)));
      shown += !row.hidden;
    });
    count.textContent = `${shown} of ${rows.length} samples`;
  };
  words.addEventListener("input", filter);
  state.addEventListener("change", filter);
  filter();

  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.v === undefined ? null : Number(cell.dataset.v);
  };
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const numeric = head.classList.contains("num");
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sign = down ? -1 : 1;
      const ordered = [...rows].sort((a, b) => {
        if (!numeric) return sign * a.cells[column].textContent.localeCompare(b.cells[column].textContent, undefined, { numeric: true });
        const x = value(a, column), y = value(b, column);
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (x - y);
      });
      body.append(...ordered);
    });
  });
})();
