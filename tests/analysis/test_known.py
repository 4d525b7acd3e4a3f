"""What is asked of the record of a known sequence depends on how the filesystem writes pages."""

import numpy as np
import pytest

from analysis import known
from analysis.adapters.known import Known
from analysis.adapters.proberecords import RECORD, TYPES

DISK = 1 << 20


@pytest.mark.parametrize("journals_data", [True, False])
def test_where_data_is_journalled_a_bio_may_have_one_page(journals_data: bool) -> None:
    """As on Linux 6.1; else the probe must be seen to go from page to page."""
    rows = np.zeros(2, RECORD)
    rows["type"], rows["dev"] = [TYPES["bio"], TYPES["pages"]], DISK
    rows["b"][0], rows["n"], rows["flags"][0] = 1, [8, 1], 1
    one = Known([], {}, {}, DISK, DISK, rows, (0, 0))
    expected = [] if journals_data else ["bio: no bio with more than one page"]
    assert known.wrong(one, ["bio"], "ext4", journals_data) == expected
