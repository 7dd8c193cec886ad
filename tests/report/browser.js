// Opens reports in headless Chromium, as a reader would: from a disk, on wide and narrow
// screens, by keyboard, without JavaScript. Called by scripts/report-browser:
//   node browser.js CHROMIUM SHOTS KIND DIRECTORY [KIND DIRECTORY…]
// KIND is sample, tcl or large. Screenshots go to SHOTS.
'use strict';
const assert = require('assert');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { chromium } = require('playwright-core');

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync'];
// Milliseconds that a page may take until it can be used.
const PATIENCE = 4000;
// Directories of the browser, which it may still write to for a while when it is closed.
const made = [];

async function open(executablePath, options) {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'edgewise-chromium-'));
  made.push(data);
  const context = await chromium.launchPersistentContext(data, {
    executablePath, headless: true, args: FLAGS, ...options,
  });
  const page = context.pages()[0] || await context.newPage();
  const problems = [];
  page.on('console', (message) => { if (message.type() !== 'log') problems.push(message.text()); });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith('file://')) problems.push('asks for ' + request.url());
  });
  return { context, page, problems };
}

const url = (directory, name) => 'file://' + path.resolve(directory) + '/' + name;

// Every kind of page, and the largest of each.
function samples(directory) {
  const names = ['index.html', 'changes.html', 'files.html', 'search.html', 'search.html?q=a'];
  for (const kind of ['tests', 'files', 'procedures']) {
    const all = fs.readdirSync(path.join(directory, kind)).filter((name) => name.endsWith('.html'));
    const size = (name) => fs.statSync(path.join(directory, kind, name)).size;
    all.sort((a, b) => size(b) - size(a) || (a < b ? -1 : 1));
    names.push(...all.slice(0, 2).map((name) => kind + '/' + name));
  }
  return names;
}

async function looks(executable, kind, directory, shots) {
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1280, 400]) {
      const viewport = { width, height: 900 };
      const { context, page, problems } = await open(executable, { viewport, colorScheme });
      for (const name of samples(directory)) {
        const began = Date.now();
        await page.goto(url(directory, name));
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0))));
        const took = Date.now() - began;
        assert(took < PATIENCE, `${name} takes ${took} ms`);
        const scroll = await page.evaluate(() => {
          const root = document.documentElement;
          return root.scrollWidth - root.clientWidth;
        });
        assert(scroll <= 0, `${kind} ${name} scrolls sideways by ${scroll} at ${width} pixels`);
        const shot = `${kind}-${name.replace(/[^a-z0-9]+/gi, '-')}-${colorScheme}-${width}.png`;
        await page.screenshot({ path: path.join(shots, shot) });
        await headings(page, name);
        await tables(page, name, width);
        await sides(page, name, width);
        await pictures(page, name, kind);
        await contrast(page, name, colorScheme);
      }
      await context.close();
      assert.deepStrictEqual(problems, []);
    }
  }
}

async function headings(page, name) {
  const levels = await page.$$eval('h1, h2, h3', (all) => all.map((h) => Number(h.tagName[1])));
  assert.strictEqual(levels[0], 1, `${name} begins with a heading of the first level`);
  levels.slice(1).forEach((level, at) => {
    assert(level > 1 && level <= levels[at] + 1, `${name}: heading ${level} behind ${levels[at]}`);
  });
  for (const landmark of ['header', 'nav', 'main', 'footer']) {
    assert((await page.$$(landmark)).length > 0, `${name} has a ${landmark}`);
  }
}

// On a narrow screen no column is out of sight, and every cell says what it is.
async function tables(page, name, width) {
  if (width > 600) return;
  const bad = await page.$$eval('.wide > table', (all) => all.flatMap((table) => {
    const wide = table.parentElement.scrollWidth - table.parentElement.clientWidth;
    const bare = table.querySelectorAll('td:not([data-label])').length;
    return wide > 0 || bare > 0 ? [`${table.caption.textContent}: ${wide} pixels, ${bare} cells`] : [];
  }));
  assert.deepStrictEqual(bad, [], `${name} at ${width} pixels`);
}

// Both graphs of a procedure begin at one height, unless the screen is narrow.
async function sides(page, name, width) {
  if (width < 1000) return;
  const tops = await page.$$eval('.graphs > .graph', (all) => all.map((one) => one.getBoundingClientRect().top));
  assert(tops.every((top) => top === tops[0]), `${name}: graphs at ${tops}`);
}

// No line passes through the name of an edge, no letter is tiny, no node touches the edge.
async function pictures(page, name, kind) {
  const bad = await page.evaluate((isSmall) => {
    const found = [];
    const passes = (box, a, b) => {
      for (let part = 0; part <= 100; part++) {
        const x = a.x + (b.x - a.x) * part / 100, y = a.y + (b.y - a.y) * part / 100;
        if (x > box.x && x < box.x + box.width && y > box.y + 2 && y < box.y + box.height - 2) return true;
      }
      return false;
    };
    for (const svg of document.querySelectorAll('.graphs svg')) {
      const view = svg.viewBox.baseVal;
      const scale = svg.getBoundingClientRect().width / view.width;
      for (const text of svg.querySelectorAll('text')) {
        const size = parseFloat(getComputedStyle(text).fontSize) * scale;
        if (size < 10) found.push(`${text.textContent} has ${size} pixels`);
      }
      for (const node of svg.querySelectorAll('.node')) {
        const box = node.getBBox();
        const room = Math.min(box.x - view.x, view.x + view.width - box.x - box.width, box.y, view.height - box.y - box.height);
        if (room < 8) found.push(`${node.textContent} has ${room} pixels around it`);
      }
      // In very large graphs there may be no free place.
      if (!isSmall) continue;
      for (const text of svg.querySelectorAll('.name text')) {
        const box = text.getBBox();
        for (const line of svg.querySelectorAll('.edge polyline')) {
          const points = Array.from(line.points);
          if (points.slice(1).some((point, at) => passes(box, points[at], point))) found.push(`${text.textContent} is struck through`);
        }
      }
    }
    return found;
  }, kind === 'sample');
  assert.deepStrictEqual(bad, [], name);
}

// Texts against what is behind them: at least 4.5 to 1.
async function contrast(page, name, scheme) {
  const bad = await page.evaluate(() => {
    const rgb = (text) => (text.match(/[\d.]+/g) || []).map(Number);
    const part = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
    const light = (c) => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = rgb(getComputedStyle(at).backgroundColor);
        if (color.length === 3 || color[3] > 0) return color;
      }
      return [255, 255, 255];
    };
    const found = [];
    const all = Array.from(document.querySelectorAll('body *')).slice(0, 3000);
    for (const element of all) {
      const own = Array.from(element.childNodes).some((n) => n.nodeType === 3 && n.nodeValue.trim());
      if (!own || element.tagName === 'SCRIPT' || element.tagName === 'STYLE') continue;
      const style = getComputedStyle(element);
      const is_svg = element.namespaceURI.endsWith('svg');
      if (is_svg && element.tagName !== 'text') continue;
      const [a, b] = [light(rgb(is_svg ? style.fill : style.color)), light(behind(element))];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (ratio < 4.5) found.push(`${element.className}: ${element.textContent.slice(0, 40)} ${ratio.toFixed(2)}`);
    }
    return found;
  });
  assert.deepStrictEqual(bad, [], `${name} in ${scheme} mode`);
}

async function works(executable, kind, directory, expected) {
  const viewport = { width: 1280, height: 900 };
  const { context, page, problems } = await open(executable, { viewport });
  await page.goto(url(directory, 'index.html'));
  // The keyboard comes to the content first, and what has the focus can be seen.
  await page.keyboard.press('Tab');
  assert.strictEqual(await page.evaluate(() => document.activeElement.textContent), 'Skip to the content');
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.notStrictEqual(outline, 'none');
  await page.keyboard.press('Enter');
  assert.strictEqual(new URL(page.url()).hash, '#content');
  // The navigation says where one is, in every part of the report.
  for (const [name, current] of [['index.html', 'Summary'], ['tests/1.html', 'Tests'], ['files/1.html', 'Files'], ['procedures/1.html', 'Changes']]) {
    await page.goto(url(directory, name));
    const marked = await page.$$eval('header [aria-current]', (all) => all.map((a) => a.textContent));
    assert.deepStrictEqual(marked, [current], name);
  }
  // Search, from any page, by keyboard.
  await page.goto(url(directory, 'files.html'));
  await page.focus('#find');
  await page.keyboard.type(expected.search);
  const began = Date.now();
  await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
  await page.waitForSelector('#results a');
  assert(Date.now() - began < PATIENCE, 'search takes long');
  const found = await page.$$eval('#results a', (all) => all.map((a) => a.textContent));
  for (const name of expected.finds) assert(found.some((text) => text.startsWith(name)), `${name} is not in ${found}`);
  await page.fill('#find', 'there is nothing like that');
  assert.match(await page.textContent('#status'), /^Nothing has/);
  await page.fill('#find', expected.place);
  await Promise.all([page.waitForNavigation(), page.click('#results a')]);
  const line = expected.place.split(':')[1];
  assert.strictEqual(new URL(page.url()).hash, '#L' + line);
  assert(await page.isVisible('#L' + line), 'the line is in view');
  if (expected.danger) await danger(page, directory, expected.danger);
  await context.close();
  assert.deepStrictEqual(problems, []);
}

// The edge that is marked is the one that leads elsewhere, and leads on to its tests.
async function danger(page, directory, expected) {
  await page.goto(url(directory, 'changes.html'));
  await Promise.all([page.waitForNavigation(), page.click(`main a:text-is("${expected.procedure}")`)]);
  const marked = await page.$$eval('.graph:first-child .name.dangerous text', (all) => all.map((t) => t.textContent));
  assert.deepStrictEqual(marked, expected.marks);
  const rows = await page.$$eval('.diff td.before.dangerous', (all) => all.map((t) => t.querySelector('code').textContent.trim()));
  assert.deepStrictEqual(rows, expected.before);
  const nodes = await page.$$eval('.graph:last-child .node.dangerous .words', (all) => all.map((t) => t.textContent));
  assert(nodes.length > 0 && nodes.every((words) => words.includes('differs')), String(nodes));
  await page.click('.graph:first-child .name.dangerous a');
  assert.strictEqual(new URL(page.url()).hash, '#d1');
  const tests = await page.$$eval('#d1 .tests a', (all) => all.map((a) => a.textContent));
  assert.deepStrictEqual(tests.filter((name) => expected.tests.includes(name)), expected.tests);
  await page.evaluate(() => { document.querySelector('#d1 details').open = true; });
  await Promise.all([page.waitForNavigation(), page.click('#d1 .tests a')]);
  const test = await page.textContent(new URL(page.url()).hash + ' h2');
  assert.strictEqual(test, tests[0] + ' selected');
}

// All that is to be read can be read without JavaScript.
async function reads(executable, directory) {
  const { context, page, problems } = await open(executable, { javaScriptEnabled: false });
  for (const name of samples(directory)) {
    await page.goto(url(directory, name));
    assert((await page.locator('main').innerText()).length > 40, `${name} says something`);
  }
  await page.goto(url(directory, 'search.html'));
  assert.match(await page.locator('main').innerText(), /Search needs JavaScript/);
  await page.emulateMedia({ media: 'print' });
  await page.goto(url(directory, 'index.html'));
  assert(!await page.isVisible('header form'), 'paper has no search');
  await context.close();
  assert.deepStrictEqual(problems, []);
}

const EXPECTED = {
  sample: {
    search: 'median', finds: ['cli/median-even', 'stats_median (lib/stats.c)', 'stats_median (lib/stats.c:40)'],
    place: 'lib/stats.c:47',
    danger: {
      procedure: 'stats_median', marks: ['T dangerous 1'],
      before: ['return (values[middle - 1] + values[middle]) / 2.0;'],
      tests: ['cli/median-even', 'cli/stats-even', 'cli/stats-tabs'],
    },
  },
  tcl: {
    search: 'dict get', finds: ['Tcl_DictObjGet (generic/tclDictObj.c'], place: 'generic/tclDictObj.c:1400',
    danger: {
      procedure: 'Tcl_NewDictObj', marks: ['dangerous 1'], before: ['dict->epoch = 0;'],
      tests: ['own/plain-dict', 'own/plain-dict-set'],
    },
  },
  large: { search: 'group3 test99', finds: ['suite/group3/test9993'], place: 'part7/file4907.c:120' },
};

(async () => {
  const [executable, shots, ...reports] = process.argv.slice(2);
  fs.mkdirSync(shots, { recursive: true });
  for (let at = 0; at < reports.length; at += 2) {
    const [kind, directory] = [reports[at], reports[at + 1]];
    await works(executable, kind, directory, EXPECTED[kind]);
    await reads(executable, directory);
    await looks(executable, kind, directory, shots);
    console.log(`${kind}: ${samples(directory).length} pages, wide and narrow, light and dark`);
  }
})().catch((error) => {
  console.error(error);
  process.exitCode = 1;
}).finally(() => {
  const patient = { recursive: true, force: true, maxRetries: 20, retryDelay: 250 };
  made.forEach((data) => fs.rmSync(data, patient));
  // A browser that is still open would keep us.
  process.exit();
});
