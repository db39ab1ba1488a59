"""Serves the Python SDK's storages and TestMemoryStore over standard input and output, one JSON object per line.

A request is {"call": "add" | "search" | "keyword_search", ...}; the answer is {"value": ...} or {"error": "..."}.
One process serves a whole suite: starting Python and importing the SDK costs seconds.
"""

import asyncio
import json
import os
import sys
from typing import Any

from strands.storage import InMemoryStorage, LocalFileStorage, Storage
from strands.storage.search import KeywordSearchStrategy
from strands.vended_memory_stores.test_memory_store import TestMemoryStore


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


async def answer(request: dict[str, Any]) -> Any:
    """Carry out one request."""
    if request["call"] == "keyword_search":
        return await keyword_search(request)
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
