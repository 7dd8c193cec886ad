// Pictures that are larger than their boxes begin at the first dangerous node, or at
// the entry, instead of at their upper left corner.
(function () {
  'use strict';
  document.querySelectorAll('.graphs .wide').forEach(function (box) {
    var node = box.querySelector('.node.dangerous') || box.querySelector('.node');
    if (!node) return;
    var at = node.getBoundingClientRect(), around = box.getBoundingClientRect();
    box.scrollLeft += at.left + at.width / 2 - around.left - around.width / 2;
    box.scrollTop += at.top + at.height / 2 - around.top - around.height / 2;
  });
})();
