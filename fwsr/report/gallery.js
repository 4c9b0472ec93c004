// The gallery: members of a group get their faces when they are first looked at.

const gallery = {
  cards: [...document.querySelectorAll(".card")],

  start() {
    const list = document.querySelector(".cards");
    if (list && !DATA.images && !list.querySelector("img")) list.classList.add("wide");
    for (const group of document.querySelectorAll("details.group"))
      group.addEventListener("toggle", () => {
        group.closest(".card").classList.toggle("open", group.open);
        if (group.open) gallery.open(group);
      });
    if (list && gallery.cards.length > 1) list.before(gallery.order(list));
    for (const place of document.querySelectorAll("#worst [data-row]")) {
      const face = faceOf(Number(place.dataset.row));
      if (!face) continue;
      if (face.className === "said" && face.textContent.length > 120) face.textContent = `${face.textContent.slice(0, 119)}…`;
      face.className === "said" ? place.append(face) : place.prepend(face);
    }
    // What can be scrolled can be reached by keyboard.
    for (const room of document.querySelectorAll(".text, .scroll"))
      if (room.scrollHeight > room.clientHeight + 1 || room.scrollWidth > room.clientWidth + 1) room.tabIndex = 0;
  },

  /** By what the cards are laid out. */
  order(list) {
    const e = DATA.exemplars;
    const ways = { "order of choosing": (t) => t, "number of points": (t) => -(e.weight[t] || 0), "looseness of the group": (t) => -(e.distance[t] || 0) };
    const select = element("select", { id: "gallery-order", change: () => {
      const value = ways[select.value];
      const place = (card) => Number(card.dataset.place);
      list.append(...[...gallery.cards].sort((a, b) => value(place(a)) - value(place(b)) || place(a) - place(b)));
    } });
    for (const way of Object.keys(ways)) select.append(element("option", { value: way, text: way }));
    return element("div", { class: "controls" }, element("label", { text: "Sort by " }, select));
  },

  open(group) {
    gallery.dress(group);
    const t = Number(group.closest(".card").dataset.place);
    if (group.querySelector(".all") || !map.group) return;
    const all = [...map.index.keys()].filter((i) => map.group[i] === t && map.index[i] !== DATA.exemplars.index[t]);
    const most = 500;
    if (!all.length) return;
    const words = map.n < DATA.points ? `All ${count(all.length)} that the map has` : `All ${count(all.length)}`;
    group.append(element("button", { type: "button", class: "all", text: words, click: (event) => {
      const list = element("ul", { class: "members" });
      for (const i of all.slice(0, most)) {
        const label = map.classes && map.classes[i] >= 0 ? element("span", { text: ` ${DATA.classes[map.classes[i]]}` }) : null;
        list.append(element("li", { "data-row": map.index[i] }, map.nameOf(i), label));
      }
      event.target.replaceWith(element("h4", { text: all.length > most ? `The first ${most}` : words }), list);
      gallery.dress(group);
    } }));
  },

  dress(group) {
    for (const member of group.querySelectorAll("[data-row]")) {
      if (member.dataset.dressed) continue;
      member.dataset.dressed = "yes";
      const face = faceOf(Number(member.dataset.row));
      if (!face) continue;
      if (face.className === "said") {
        member.classList.add("worded");
        member.append(face);
      } else {
        member.prepend(face);
      }
    }
  },

  /** Only the first of them, or of each class, as they would be with fewer exemplars. */
  showFirst(number) {
    for (const card of gallery.cards)
      card.classList.toggle("beyond", DATA.exemplars.rank[Number(card.dataset.place)] >= number);
  },
};
