import numpy as np

from winnow import Page, load_model
from winnow.features.blocks import FEATURE_NAMES, features_of
from winnow.models.networks import BlockPerceptron, attribute_scores

PAGE = (
    "<nav><a href=/>Home</a> <a href=/w>Weather</a></nav><article><h1>Storm</h1>"
    + "<p>Winds of up to 130 km/h are expected on the coast tonight, says the office.</p>" * 3
    + "</article><footer>© The Harbour News</footer>"
)


def _model() -> BlockPerceptron:
    model = load_model("blocks")
    assert isinstance(model, BlockPerceptron)
    return model


def test_a_part_is_the_change_of_the_score_without_the_feature() -> None:
    model, page = _model(), Page.parse(PAGE)
    found = attribute_scores(model, page)
    features = features_of(page)
    matrix = features.matrix(model.tables)
    at = FEATURE_NAMES.index("enclosed by nav")
    assert found.names == FEATURE_NAMES
    np.testing.assert_array_equal(found.values[:, at], matrix[:, at])
    with_it = model.content_probability(matrix, features.windows)
    matrix[:, at] = model.mean[at]
    without = model.content_probability(matrix, features.windows)
    change = np.log(without / (1 - without)) - np.log(with_it / (1 - with_it))
    np.testing.assert_allclose(found.parts[:, at], change, atol=1e-3)


def test_the_heaviest_come_first_and_carry_their_values() -> None:
    found = attribute_scores(_model(), Page.parse(PAGE))
    heaviest = found.heaviest([0, 1], most=4)
    parts = [abs(part) for _, part, _ in heaviest]
    assert len(heaviest) == 4
    assert parts == sorted(parts, reverse=True)
    assert all(value is not None for _, _, value in heaviest)
    assert found.heaviest([]) == []


def test_on_long_pages_features_are_taken_away_by_families() -> None:
    found = attribute_scores(_model(), Page.parse("<p>Text that stands here.</p>" * 1_600))
    assert {"container 0", "words", "names"} <= set(found.names)
    assert found.parts.shape == (1_600, len(found.names))
    assert found.heaviest([5])[0][2] is None
