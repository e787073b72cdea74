for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const value = (row, at) => row.cells[at].dataset.v ?? row.cells[at].textContent;
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const numeric = head.classList.contains("n");
      const rows = [...body.rows].map((row, place) => ({ row, place, v: value(row, at) }));
      rows.sort((a, b) => {
        // What has no value comes last, either way.
        if ((a.v === "") !== (b.v === "")) return a.v === "" ? 1 : -1;
        const order = numeric ? Number(a.v) - Number(b.v) : a.v.localeCompare(b.v);
        return (down ? -order : order) || a.place - b.place;
      });
      body.append(...rows.map(({ row }) => row));
    });
  });
}
