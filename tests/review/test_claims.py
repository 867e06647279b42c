from deshred.review.claims import Claims


def test_a_page_that_one_tab_is_busy_with_is_not_asked_in_another() -> None:
    claims = Claims()
    claims.claim(["a", "b"], "ann")
    assert claims.is_free("a", "ann")
    assert not claims.is_free("a", "bob")
    assert claims.is_free("c", "bob")


def test_a_tab_is_busy_with_one_page_at_a_time() -> None:
    claims = Claims()
    claims.claim(["a"], "ann")
    claims.claim(["b"], "ann")
    assert claims.is_free("a", "bob")


def test_a_claim_ends_by_itself() -> None:
    now = 0.0
    claims = Claims(lambda: now)
    claims.claim(["a"], "ann")
    now = 601.0
    assert claims.is_free("a", "bob")
