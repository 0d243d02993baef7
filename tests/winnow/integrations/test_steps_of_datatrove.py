"""The extractor and the filter in a real datatrove pipeline."""

import pytest
from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor

from winnow import clean
from winnow.integrations.datatrove import WinnowExtractor, WinnowFilter

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
    found = _run(tmp_path, WinnowExtractor(timeout=30), WinnowFilter(max_template_share=0.9))
    assert [document.id for document in found] == ["0", "1", "2", "3"]
    for number, document in enumerate(found):
        cleaned = clean(_page(number), f"http://host.example/{number}")
        assert document.text == cleaned.text
        assert "All rights reserved" not in document.text
        assert document.metadata["title"] == f"Day {number}"
        assert document.metadata["confidence"] == cleaned.confidence


def test_the_filter_drops_by_confidence_kind_and_template_with_the_reason():
    document = Document(text="", id="", metadata={"confidence": 0.6, "template_share": 0.4, "kind": "article"})
    assert WinnowFilter().filter(document) is True
    assert WinnowFilter(min_confidence=0.7).filter(document) == (False, "low_confidence")
    assert WinnowFilter(max_template_share=0.3).filter(document) == (False, "mostly_template")
    assert WinnowFilter(kinds={"forum"}).filter(document) == (False, "other_kind")
    assert WinnowFilter(0.9, kinds={"article"}).filter(Document(text="", id="", metadata={"kind": "article"})) is True
