"""Serves the Python SDK's storages and TestMemoryStore over standard input and output, one JSON object per line.

A request is {"call": "add" | "search" | "keyword_search" | "bm25_write" | ..., ...}; the answer is {"value": ...} or
{"error": "..."}. One process serves a whole suite: starting Python and importing the SDK costs seconds.
"""

import asyncio
import json
import os
import sqlite3
import sys
from typing import Any

from strands.storage import InMemoryStorage, LocalFileStorage, Storage
from strands.storage.search import KeywordSearchStrategy
from strands.storage.search.bm25 import Bm25SearchStrategy, Bm25SearchStrategyConfig
from strands.vended_memory_stores.test_memory_store import TestMemoryStore

#: Connections that stay open until they are let go, by the path of the database.
held: dict[str, sqlite3.Connection] = {}


def open_store(request: dict[str, Any]) -> TestMemoryStore:
    """Open a store by its path, or by its name under the HOME of the request."""
    if "home" in request:
        os.environ["HOME"] = request["home"]
    config = {key: request[key] for key in ("name", "path") if key in request}
    return TestMemoryStore(**{"name": "shared", **config})


async def keyword_search(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Search the files of a folder, or entries in memory, by keywords."""
    if "folder" in request:
        storage: Storage = LocalFileStorage(request["folder"])
    else:
        storage = InMemoryStorage()
        for key, text in request["entries"].items():
            await storage.write(key, text.encode())
    results = await KeywordSearchStrategy().search(storage, request["query"])
    return [{"key": result.key, "score": result.score, "data": list(result.data)} for result in results]


async def bm25(request: dict[str, Any]) -> Any:
    """Write entries, texts or lists of bytes, into a folder with a BM25 index, or search it."""
    strategy = Bm25SearchStrategy(Bm25SearchStrategyConfig(db_path=request.get("db_path")))
    storage = LocalFileStorage(request["folder"], search_strategy=strategy)
    try:
        if request["call"] == "bm25_search":
            return [[result.key, result.score] for result in await storage.search(request["query"])]
        for key, data in request["entries"].items():
            await storage.write(key, data.encode() if isinstance(data, str) else bytes(data))
        return None
    finally:
        await strategy.close()


def sql(request: dict[str, Any]) -> list[list[Any]]:
    """Execute statements, and give the rows of the last; the connection stays open where `hold` says so."""
    path = request["path"]
    connection = held.pop(path, None) or sqlite3.connect(path, isolation_level=None)
    rows: list[list[Any]] = []
    try:
        for statement in request["statements"]:
            rows = [list(row) for row in connection.execute(statement)]
    except BaseException:
        connection.close()
        raise
    if request["hold"]:
        held[path] = connection
    else:
        connection.close()
    return rows


async def answer(request: dict[str, Any]) -> Any:
    """Carry out one request."""
    if request["call"] == "keyword_search":
        return await keyword_search(request)
    if request["call"] in ("bm25_write", "bm25_search"):
        return await bm25(request)
    if request["call"] == "sql":
        return sql(request)
    store = open_store(request)
    if request["call"] == "add":
        # json.loads reads a bare NaN, so the caller can ask for one.
        metadata = json.loads(request["metadata"]) if "metadata" in request else None
        return {"id": (await store.add(request["content"], metadata)).id}
    if request["call"] == "search":
        entries = await store.search(request["query"])
        return [{"content": entry.content, "metadata": entry.metadata} for entry in entries]
    raise ValueError(f"unknown call {request['call']!r}")


def main() -> None:
    """Answer requests until standard input ends."""
    sys.stdin.reconfigure(encoding="utf-8")
    sys.stdout.reconfigure(encoding="utf-8")
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        try:
            reply = {"value": asyncio.run(answer(json.loads(line)))}
        except Exception as error:  # every fault belongs to the caller
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


main()
