"""Tables of data and those that only lay out a page; columns that stay columns."""

from winnow.output.tables.columns import in_table, layout, table_around, table_text

__all__ = ["in_table", "layout", "table_around", "table_text"]
