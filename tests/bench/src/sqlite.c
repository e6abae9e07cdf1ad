/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database in memory: inserts, joins, aggregates, text search, updates. Argument: number of rounds.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static sqlite3 *db;

static void run(const char *sql)
{
	char *why = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
		fprintf(stderr, "%s: %s\n", sql, why);
		exit(1);
	}
}

static void fill(int rows)
{
	sqlite3_stmt *insert;
	unsigned x = 12345;
	char name[64];

	run("begin");
	sqlite3_prepare_v2(db, "insert into item(id, owner, price, name) values(?,?,?,?)", -1, &insert, NULL);
	for (int i = 0; i < rows; i++) {
		x = x * 1103515245 + 12345;
		snprintf(name, sizeof(name), "item %u of %u", x >> 16, x >> 20);
		sqlite3_bind_int(insert, 1, i);
		sqlite3_bind_int(insert, 2, (int)(x >> 22));
		sqlite3_bind_double(insert, 3, (x >> 8) / 1000.0);
		sqlite3_bind_text(insert, 4, name, -1, SQLITE_TRANSIENT);
		sqlite3_step(insert);
		sqlite3_reset(insert);
	}
	sqlite3_finalize(insert);
	run("commit");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return 1;
	for (int i = 0; i < rounds; i++) {
		run("create table item(id integer primary key, owner int, price real, name text)");
		run("create table owner(id integer primary key, name text)");
		fill(20000);
		run("create index by_owner on item(owner)");
		run("insert into owner select distinct owner, 'owner ' || owner from item");
		run("select o.name, count(*), sum(i.price) from owner o join item i on i.owner = o.id group by o.id order by 3 desc");
		run("select count(*) from item where name like '%7 of 1%'");
		run("select id, rank() over (partition by owner order by price) from item order by price limit 500");
		run("update item set price = price * 1.1 where owner % 3 = 0");
		run("delete from item where id % 5 = 2");
		run("with recursive c(n) as (select 1 union all select n + 1 from c where n < 30000) select sum(n * n % 7) from c");
		run("drop table item");
		run("drop table owner");
	}
	sqlite3_close(db);
	return 0;
}
