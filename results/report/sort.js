// Sorts a table by the clicked column; cells without a value go last either way.
(function () {
  "use strict";
  function value(row, column) {
    return row.cells[column].dataset.sort;
  }
  function compare(a, b, up) {
    if (a === "" || b === "") {
      return (a === "") - (b === "");
    }
    const x = Number(a);
    const y = Number(b);
    const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
    return up ? order : -order;
  }
  document.addEventListener("click", function (event) {
    const button = event.target.closest("th button");
    if (!button) {
      return;
    }
    const heading = button.closest("th");
    const table = heading.closest("table");
    const column = heading.cellIndex;
    const up = heading.getAttribute("aria-sort") !== "ascending";
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    rows.sort(function (r, s) {
      return compare(value(r, column), value(s, column), up);
    });
    body.append(...rows);
    for (const other of table.querySelectorAll("th[aria-sort]")) {
      other.setAttribute("aria-sort", "none");
    }
    heading.setAttribute("aria-sort", up ? "ascending" : "descending");
  });
  // On paper nothing can be opened.
  window.addEventListener("beforeprint", function () {
    for (const details of document.querySelectorAll("details:not([open])")) {
      details.open = true;
      details.dataset.closed = "1";
    }
  });
  window.addEventListener("afterprint", function () {
    for (const details of document.querySelectorAll("details[data-closed]")) {
      details.open = false;
      delete details.dataset.closed;
    }
  });
})();
