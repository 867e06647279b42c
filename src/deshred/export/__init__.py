"""What people take away: pages, text, PDF/A, tables, a case report, a sealed package; and is it intact?

`export` writes, `search` looks for words, `seal` and `verify` keep watch; `formats` lists one module each.
"""
