-- What programs ask of a database: rows, an index, texts, groups, joins and sorting.
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80000)
  INSERT INTO t SELECT i, printf('%d-%s', i, hex(i * 7919)), i * 0.5 FROM n;
CREATE INDEX x ON t(b);
SELECT count(*), sum(length(b)), max(upper(b)), sum(c) FROM t WHERE b LIKE '%7%';
SELECT substr(b, 1, 2) AS k, count(*), avg(c) FROM t GROUP BY k ORDER BY 2 DESC LIMIT 5;
SELECT count(*) FROM t AS u JOIN t AS v ON u.b = v.b WHERE u.a % 3 = 0;
