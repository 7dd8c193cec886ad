CREATE TABLE item(id INTEGER PRIMARY KEY, kind TEXT, size INTEGER, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO item SELECT i, char(97 + i % 7) || i % 31, i * 7919 % 10007, 'note ' || i FROM n;
CREATE INDEX by_kind ON item(kind, size);
SELECT kind, count(*), sum(size), max(note) FROM item GROUP BY kind ORDER BY 3 DESC LIMIT 5;
UPDATE item SET size = size + 1 WHERE id % 3 = 0;
SELECT count(*) FROM item a JOIN item b ON a.size = b.id WHERE b.note LIKE '%7%';
DELETE FROM item WHERE size BETWEEN 2000 AND 3000;
SELECT substr(note, 1, 6) AS start, avg(size) FROM item GROUP BY start HAVING count(*) > 2 ORDER BY 2 LIMIT 5;
