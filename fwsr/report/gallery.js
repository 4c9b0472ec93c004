// The gallery: members of a group get their faces when they are first looked at.

const gallery = {
  cards: [...document.querySelectorAll(".card")],

  start() {
    const list = document.querySelector(".cards");
    if (list && !DATA.images && !list.querySelector("img")) list.classList.add("wide");
    for (const group of document.querySelectorAll("details.group"))
      group.addEventListener("toggle", () => { if (group.open) gallery.dress(group); });
    for (const place of document.querySelectorAll("#worst [data-row]")) {
      const image = imageOf(Number(place.dataset.row));
      if (image) place.prepend(image);
    }
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
