// Finds tests, files, procedures and lines in the index, as somebody types.
(function () {
  'use strict';
  var index = window.edgewiseIndex;
  var input = document.getElementById('find');
  var results = document.getElementById('results');
  var status = document.getElementById('status');
  var most = 100;
  if (!index) {
    status.textContent = 'search-index.js is missing beside this page, so nothing can be found.';
    return;
  }

  function testPage(test) {
    var low = 0, high = index.testPages.length - 1;
    while (low < high) {
      var middle = (low + high) >> 1;
      if (index.testPages[middle] <= test) low = middle + 1; else high = middle;
    }
    return 'tests/' + (low + 1) + '.html#t' + (test + 1);
  }

  function linePage(file, line) {
    var part = Math.floor((line - 1) / index.linesOfPage);
    return 'files/' + (file + 1) + (part > 0 ? '-' + (part + 1) : '') + '.html#L' + line;
  }

  function search(words, items, text, show) {
    var found = [], count = 0;
    for (var i = 0; i < items.length; i++) {
      var lower = text(items[i]).toLowerCase();
      if (words.every(function (word) { return lower.indexOf(word) >= 0; })) {
        count++;
        if (found.length < most) found.push(show(items[i], i));
      }
    }
    return { found: found, count: count };
  }

  function section(title, result) {
    if (result.count === 0) return;
    var part = document.createElement('section');
    var heading = document.createElement('h2');
    heading.textContent = title + ': ' + result.count;
    part.appendChild(heading);
    var list = document.createElement('ul');
    list.className = 'found';
    result.found.forEach(function (entry) {
      var item = document.createElement('li');
      var link = document.createElement('a');
      link.href = entry.target;
      link.textContent = entry.text;
      item.appendChild(link);
      list.appendChild(item);
    });
    part.appendChild(list);
    if (result.count > most) {
      var more = document.createElement('p');
      more.textContent = 'and ' + (result.count - most) + ' more: another word narrows it down';
      part.appendChild(more);
    }
    results.appendChild(part);
  }

  function same(item) { return item; }

  function find() {
    var query = input.value.trim();
    results.textContent = '';
    if (query === '') {
      status.textContent = 'Type the name of a test, a file or a procedure, or file:line.';
      return;
    }
    var place = /^(.+):(\d+)$/.exec(query);
    var line = place ? Math.max(1, parseInt(place[2], 10)) : 0;
    var words = (place ? place[1] : query).toLowerCase().split(/\s+/);
    var files = search(words, index.files, same, function (name, file) {
      return line > 0
        ? { target: linePage(file, line), text: name + ':' + line }
        : { target: 'files/' + (file + 1) + '.html', text: name };
    });
    var none = { found: [], count: 0 };
    var changed = place ? none : search(words, index.changed, function (item) {
      return item[0] + ' ' + item[1];
    }, function (item) {
      return { target: 'procedures/' + item[2] + '.html', text: item[0] + ' (' + item[1] + ')' };
    });
    var procedures = place ? none : search(words, index.procedures, function (item) {
      return item[0] + ' ' + index.files[item[1]];
    }, function (item) {
      return { target: linePage(item[1], item[2]), text: item[0] + ' (' + index.files[item[1]] + ':' + item[2] + ')' };
    });
    var tests = search(place ? [query.toLowerCase()] : words, index.tests, same, function (name, test) {
      return { target: testPage(test), text: name };
    });
    section('Tests', tests);
    section('Changed procedures', changed);
    section('Procedures', procedures);
    section('Files', files);
    var count = tests.count + changed.count + procedures.count + files.count;
    status.textContent = count === 0 ? 'Nothing has “' + query + '” in its name.' : count + ' found.';
  }

  input.value = new URLSearchParams(window.location.search).get('q') || '';
  input.addEventListener('input', find);
  input.form.addEventListener('submit', function (event) {
    event.preventDefault();
    find();
  });
  find();
  input.focus();
})();
