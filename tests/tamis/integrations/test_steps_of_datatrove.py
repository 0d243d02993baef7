"""The extractor in a real datatrove pipeline, before a filter by what it leaves in the metadata."""

import importlib

import pytest

from tamis import clean

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # datatrove's and its dependencies'
]

STORY = "The wind blew over the harbour, and the ships came home late with salt, iron and lemons in their holds. "


def _page(number: int) -> str:
    menu = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("Home", "News", "Sport", "Weather", "About us"))
    paragraphs = "".join(f"<p>Day {number}, part {part}. {STORY * 3}</p>" for part in range(4))
    return (
        f"<html><head><title>Day {number}</title></head><body><nav><ul>{menu}</ul></nav><article><h1>Day {number}</h1>"
        f"{paragraphs}</article><footer>Copyright of the harbour news. All rights reserved.</footer></body></html>"
    )


def test_a_pipeline_gets_the_content_and_its_metadata(tmp_path):
    # Imported here: the tests of other files do without.
    data, executor, filters = (
        importlib.import_module(f"datatrove.{name}") for name in ("data", "executor", "pipeline.filters")
    )
    integration = importlib.import_module("tamis.integrations.datatrove")
    documents = [
        data.Document(text=_page(number), id=str(number), metadata={"url": f"http://host.example/{number}"})
        for number in range(4)
    ]
    documents.append(data.Document(text="", id="empty"))
    found = []

    def collect(data, rank, world_size):
        for document in data:
            found.append(document)
            yield document

    extractor = integration.TamisExtractor(timeout=240)
    is_wanted = filters.LambdaFilter(lambda document: document.metadata["title"] != "Day 2")
    steps = [documents, extractor, is_wanted, collect]
    executor.LocalPipelineExecutor(steps, logging_dir=str(tmp_path / "logs")).run()
    assert [document.id for document in found] == ["0", "1", "3"]
    for document in found:
        number = int(document.id)
        cleaned = clean(_page(number), f"http://host.example/{number}")
        assert document.text == cleaned.text
        assert "All rights reserved" not in document.text
        assert document.metadata["title"] == f"Day {number}"
        assert document.metadata["confidence"] == cleaned.confidence
