"""Imports a dataset of the Hugging Face hub into a SQLite database: a table for each split, a column for each field.

Columns of structures are split into one for each of their fields, named `structure_field`. Images and sounds stay the
bytes of their files. Lists and whatever else SQLite does not know become texts of JSON.
"""

import argparse
import json
import os
import sqlite3
import sys

import datasets

ROWS = 256


def plain(feature):
    """The feature without decoding: bytes stay bytes."""
    if type(feature).__name__ in ("Audio", "Image"):
        return type(feature)(decode=False)
    return feature


def flat(row, prefix=""):
    """The fields of a row and those of its structures."""
    for name, value in row.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}_")
        else:
            yield f"{prefix}{name}", value


def cell(value):
    """A value as SQLite knows it."""
    if value is None or isinstance(value, (bool, float, str, bytes)):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{value} is no integer of 64 bits")
        return value
    return json.dumps(value, default=str)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def write(database, split, rows):
    """Writes the rows of a split, some at once. Columns are added when a row first has them."""
    table = quoted(split)
    database.execute(f"CREATE TABLE {table} (row_id INTEGER PRIMARY KEY)")
    known = {}
    features = getattr(rows, "features", None) or {}
    for name in features:
        if not isinstance(features[name], dict) and type(features[name]).__name__ not in ("Audio", "Image"):
            known[name] = None
    for name in known:
        database.execute(f"ALTER TABLE {table} ADD COLUMN {quoted(name)}")
    for number, row in enumerate(rows, 1):
        values = {name: cell(value) for name, value in flat(row)}
        for name in values:
            if name not in known:
                known[name] = None
                database.execute(f"ALTER TABLE {table} ADD COLUMN {quoted(name)}")
        columns = "".join(f", {quoted(name)}" for name in values)
        marks = ", ?" * len(values)
        database.execute(f"INSERT INTO {table} (row_id{columns}) VALUES (?{marks})", [number, *values.values()])
        if number % ROWS == 0:
            database.commit()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("name")
    arguments.add_argument("file")
    arguments.add_argument("--subset")
    arguments.add_argument("--cache-dir")
    arguments.add_argument("--data-dir")
    arguments.add_argument("--trust-remote-code", action="store_true")
    arguments = arguments.parse_args()

    options = {}
    if arguments.trust_remote_code:
        # Not every version knows it.
        options["trust_remote_code"] = True
    if os.environ.get("HF_TOKEN"):
        options["token"] = os.environ["HF_TOKEN"]
    splits = datasets.load_dataset(
        arguments.name,
        arguments.subset,
        cache_dir=arguments.cache_dir,
        data_dir=arguments.data_dir,
        **options,
    )
    database = sqlite3.connect(arguments.file)
    for split, rows in splits.items():
        for name, feature in (getattr(rows, "features", None) or {}).items():
            if plain(feature) is not feature:
                rows = rows.cast_column(name, plain(feature))
        write(database, split, rows)
    database.commit()
    database.close()


if __name__ == "__main__":
    try:
        main()
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
