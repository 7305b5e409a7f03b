"use strict";
(() => {
  const make = (name, parent) => parent.appendChild(document.createElement(name));

  // The legend switches curves on and off.
  for (const key of document.querySelectorAll("svg.chart .key")) {
    const name = key.dataset.k;
    if (name === "unstable") continue;
    const chart = key.closest("svg.chart");
    const parts = [...chart.querySelectorAll("." + name)].filter(part => !part.closest(".key"));
    key.setAttribute("role", "button");
    key.setAttribute("tabindex", "0");
    key.setAttribute("aria-pressed", "true");
    const toggle = () => {
      const shown = key.getAttribute("aria-pressed") !== "true";
      key.setAttribute("aria-pressed", String(shown));
      for (const part of parts) part.style.display = shown ? "" : "none";
    };
    key.addEventListener("click", toggle);
    key.addEventListener("keydown", event => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      toggle();
    });
  }

  // A crosshair reads the values of the nearest size from its row of the table of points.
  for (const figure of document.querySelectorAll("figure[data-points]")) {
    const svg = figure.querySelector("svg.chart");
    const table = document.getElementById(figure.dataset.points);
    const marks = svg ? [...svg.querySelectorAll("[data-x]")] : [];
    if (!marks.length || !table) continue;
    const heads = [...table.querySelectorAll("thead th")].map(head => head.textContent);
    const rows = [...table.querySelectorAll("tbody tr")];
    const places = marks.map(mark => Number(mark.dataset.x));
    const box = svg.viewBox.baseVal;
    const cross = svg.appendChild(document.createElementNS(svg.namespaceURI, "path"));
    cross.setAttribute("class", "cross");
    const tip = make("div", figure);
    tip.className = "tip";
    tip.hidden = true;
    svg.setAttribute("tabindex", "0");
    // Its own tooltips would cover ours.
    for (const title of svg.querySelectorAll("path > title")) title.remove();
    let current = -1;

    const show = index => {
      if (index === current) return;
      rows[current < 0 ? -1 : Number(marks[current].dataset.i)]?.classList.remove("on");
      current = index;
      tip.hidden = index < 0;
      cross.setAttribute("d", "");
      if (index < 0) return;
      const row = rows[Number(marks[index].dataset.i)];
      row?.classList.add("on");
      cross.setAttribute("d", `M${places[index]},30V${box.height - 24}`);
      tip.textContent = "";
      const body = make("table", tip);
      [...(row?.cells ?? [])].forEach((cell, column) => {
        if (!cell.textContent) return;
        const line = make("tr", body);
        make("th", line).textContent = heads[column];
        make("td", line).textContent = cell.textContent;
      });
      const frame = svg.getBoundingClientRect();
      const outer = figure.getBoundingClientRect();
      const x = frame.left - outer.left + places[index] / box.width * frame.width;
      const right = x + tip.offsetWidth + 16 < outer.width;
      tip.style.left = `${Math.max(0, right ? x + 14 : x - tip.offsetWidth - 14)}px`;
      tip.style.top = `${svg.querySelector(".key") ? 48 : 20}px`;
    };
    const nearest = event => {
      const frame = svg.getBoundingClientRect();
      const x = (event.clientX - frame.left) / frame.width * box.width;
      let best = 0;
      places.forEach((place, index) => {
        if (Math.abs(place - x) < Math.abs(places[best] - x)) best = index;
      });
      show(best);
    };
    svg.addEventListener("pointermove", nearest);
    svg.addEventListener("pointerdown", nearest);
    svg.addEventListener("pointerleave", () => show(-1));
    svg.addEventListener("blur", () => show(-1));
    svg.addEventListener("keydown", event => {
      const last = marks.length - 1;
      const next = { ArrowRight: Math.min(current + 1, last), ArrowLeft: Math.max(current - 1, 0), Home: 0, End: last, Escape: -1 }[event.key];
      if (next === undefined || event.target !== svg) return;
      event.preventDefault();
      show(next);
    });
  }

  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details")) part.open = true;
  });
})();
