"""The extractor in a real datatrove pipeline, before a filter by what it leaves in the metadata."""

import pytest
from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.filters import LambdaFilter

from winnow import clean
from winnow.integrations.datatrove import WinnowExtractor

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


def _run(tmp_path, *steps):
    documents = [
        Document(text=_page(number), id=str(number), metadata={"url": f"http://host.example/{number}"})
        for number in range(4)
    ]
    documents.append(Document(text="", id="empty"))
    found = []

    def collect(data, rank, world_size):
        for document in data:
            found.append(document)
            yield document

    LocalPipelineExecutor([documents, *steps, collect], logging_dir=str(tmp_path / "logs")).run()
    return found


def test_a_pipeline_gets_the_content_and_its_metadata(tmp_path):
    found = _run(
        tmp_path, WinnowExtractor(timeout=240), LambdaFilter(lambda document: document.metadata["title"] != "Day 2")
    )
    assert [document.id for document in found] == ["0", "1", "3"]
    for document in found:
        number = int(document.id)
        cleaned = clean(_page(number), f"http://host.example/{number}")
        assert document.text == cleaned.text
        assert "All rights reserved" not in document.text
        assert document.metadata["title"] == f"Day {number}"
        assert document.metadata["confidence"] == cleaned.confidence
