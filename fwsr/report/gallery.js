// The gallery: members of a group get their faces when they are first looked at.

const gallery = {
  list: document.querySelector(".cards"),

  start() {
    if (gallery.list && !DATA.images && !gallery.list.querySelector("img")) gallery.list.classList.add("wide");
    for (const group of document.querySelectorAll("details.group"))
      group.addEventListener("toggle", () => {
        group.closest(".card").classList.toggle("open", group.open);
        if (group.open) gallery.open(group);
      });
    if (CARDS.length > 1) gallery.list.before(element("div", { class: "controls" }, gallery.order()));
    for (const mixed of document.querySelectorAll(".mixed")) mixed.dataset.all = mixed.textContent;
    gallery.dress(document.getElementById("worst"));
    document.querySelectorAll(".text, .scroll").forEach(reachable);
  },

  /** By what the cards are laid out. */
  order() {
    const e = DATA.exemplars, place = (card) => Number(card.dataset.place);
    const ways = { "order of choosing": (t) => t, "number of points": (t) => -e.weight[t], "looseness of the group": (t) => -e.distance[t] };
    return choice("Sort by", "gallery-order", Object.keys(ways).map((way) => [way, way]), (way) =>
      gallery.list.append(...[...CARDS].sort((a, b) => ways[way](place(a)) - ways[way](place(b)) || place(a) - place(b))));
  },

  /** Faces, and a button for all of its points that the page has, as the groups are now. */
  open(group) {
    gallery.dress(group);
    for (const old of group.querySelectorAll(".all")) old.remove();
    const t = Number(group.closest(".card").dataset.place), most = 500;
    const all = map.now ? [...map.index.keys()].filter((i) => map.now[i] === t && map.index[i] !== DATA.exemplars.index[t]) : [];
    if (!all.length) return;
    const words = map.n < DATA.points ? `All ${count(all.length)} others that the map has` : `All ${count(all.length)} others`;
    const show = () => {
      const list = element("ul", { class: "members" });
      for (const i of all.slice(0, most))
        list.append(element("li", { "data-row": map.index[i] }, map.nameOf(i), element("span", { text: ` ${map.classOf(i)}` })));
      group.lastChild.replaceWith(element("div", { class: "all" },
        element("h4", { text: all.length > most ? `The first ${most}` : words }), list));
      gallery.dress(group);
    };
    group.append(element("button", { type: "button", class: "all", text: words, click: show }));
  },

  /** Points that are named get their faces. */
  dress(room) {
    for (const member of room ? room.querySelectorAll("[data-row]") : []) {
      const face = member.dataset.dressed ? null : faceOf(Number(member.dataset.row));
      member.dataset.dressed = "yes";
      if (!face) continue;
      const words = face.className === "said";
      member.classList.toggle("worded", words);
      words ? member.append(face) : member.prepend(face);
    }
  },

  /** Only the first of them, or of each class, with the groups that they have by themselves. */
  showFirst(number, weights, all) {
    const total = weights.reduce((sum, w) => sum + w, 0), most = Math.max(...weights) || 1;
    const mixes = all ? null : map.mixes();
    for (const card of CARDS) {
      const t = Number(card.dataset.place);
      card.classList.toggle("beyond", DATA.exemplars.rank[t] >= number);
      const words = `stands for ${points(weights[t])} (${percent(total > 0 ? weights[t] / total : 0)})`;
      card.querySelector(".stands").textContent = words;
      card.querySelector(".share").setAttribute("aria-label", words);
      card.querySelector(".share .fill").setAttribute("width", 100 * weights[t] / most);
      const mixed = card.querySelector(".mixed");
      if (mixed) mixed.textContent = all ? mixed.dataset.all : mixes[t] || "";
    }
    gallery.list.classList.toggle("fewer", !all);
    for (const group of gallery.list.querySelectorAll("details[open]")) gallery.open(group);
  },
};
