// Every view starts by itself: one that fails leaves the others as they are.

for (const view of [map, gallery, taking, enough, tables])
  try {
    view.start();
  } catch (problem) {
    console.error(problem);
  }
