"""Does for the benchmarks what Python does, and tells how long it took: one JSON object per line, in and out.

A request is {"call": "fill" | "search" | "rank" | "raw", ...}; the answer is {"value": ...} or {"error": "..."}. The
milliseconds in it are those of the work alone: neither the start of Python nor the way of a request counts.
"""

import asyncio
import json
import sqlite3
import sys
from collections.abc import Awaitable
from time import perf_counter
from typing import Any

from strands.storage import LocalFileStorage
from strands.storage.search.bm25 import Bm25SearchStrategy

STATEMENT = "SELECT key, rank FROM documents WHERE documents MATCH ? ORDER BY rank"

#: What searches keep from one request to the next, by folder: the SDK's strategy and its storage.
searched: dict[str, tuple[Bm25SearchStrategy, LocalFileStorage]] = {}
#: The same for bare SQLite, by index file.
connections: dict[str, sqlite3.Connection] = {}


async def fill(request: dict[str, Any]) -> float:
    """Index documents through the strategy or through the storage, one after another or all at once."""
    documents = [(key, text.encode()) for key, text in request["documents"]]
    strategy = Bm25SearchStrategy()
    storage = LocalFileStorage(request["folder"], search_strategy=strategy)

    def put(key: str, data: bytes) -> Awaitable[None]:
        return storage.write(key, data) if request["through"] == "write" else strategy.index(storage, key, data)

    # Whoever measures the documents does not measure the making of the file.
    await strategy.index(storage, "first", b"")
    started = perf_counter()
    if request["atOnce"]:
        await asyncio.gather(*(put(key, data) for key, data in documents))
    else:
        for key, data in documents:
            await put(key, data)
    elapsed = perf_counter() - started
    await strategy.close()
    return elapsed * 1000


async def search(request: dict[str, Any]) -> dict[str, Any]:
    """Search an index through the SDK's strategy."""
    folder = request["folder"]
    if folder not in searched:
        searched[folder] = (Bm25SearchStrategy(), LocalFileStorage(folder))
    strategy, storage = searched[folder]
    started = perf_counter()
    results = await strategy.search(storage, request["query"])
    return {"milliseconds": (perf_counter() - started) * 1000, "hits": len(results)}


async def rank(request: dict[str, Any]) -> list[list[str]]:
    """Index documents, and give the keys that each question finds, best first."""
    strategy = Bm25SearchStrategy()
    storage = LocalFileStorage(request["folder"], search_strategy=strategy)
    for key, text in request["documents"]:
        await storage.write(key, text.encode())
    rankings = [[result.key for result in await storage.search(question)] for question in request["questions"]]
    await strategy.close()
    return rankings


async def raw(request: dict[str, Any]) -> dict[str, Any]:
    """Run the statement of a search on an index file, with nothing but SQLite."""
    path = request["path"]
    if path not in connections:
        connections[path] = sqlite3.connect(path)
    started = perf_counter()
    rows = connections[path].execute(STATEMENT, (request["expression"],)).fetchall()
    elapsed = (perf_counter() - started) * 1000
    return {"milliseconds": elapsed, "hits": len(rows), **({"rows": rows} if request.get("rows") else {})}


CALLS = {"fill": fill, "search": search, "rank": rank, "raw": raw}


def main() -> None:
    """Answer requests until standard input ends."""
    loop = asyncio.new_event_loop()
    for line in sys.stdin:
        try:
            request = json.loads(line)
            reply = {"value": loop.run_until_complete(CALLS[request["call"]](request))}
        except Exception as error:  # every fault belongs to the caller
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


main()
