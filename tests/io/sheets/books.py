"""Spreadsheets made for tests: .xlsx by openpyxl, .ods as its standard describes it."""

import datetime as dt
import io
import zipfile
from xml.sax.saxutils import escape

import openpyxl

SPACES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)


def xlsx(sheets):
    """The bytes of a workbook; `sheets` are rows by name."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def ods_cell(value):
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, bool):
        kind, attribute = "boolean", f'office:boolean-value="{str(value).lower()}"'
    elif isinstance(value, int | float):
        kind, attribute = "float", f'office:value="{value}"'
    elif isinstance(value, dt.date):
        kind, attribute = "date", f'office:date-value="{value.isoformat()}"'
    else:
        kind, attribute = "string", ""
    shown = f"<text:p>{escape(str(value))}</text:p>"
    return f'<table:table-cell office:value-type="{kind}" {attribute}>{shown}</table:table-cell>'


def ods(sheets, also=""):
    """The same as OpenDocument; `also` is put below the rows of each sheet."""
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(f"<table:table-row>{''.join(map(ods_cell, row))}</table:table-row>" for row in rows)
        + f"{also}</table:table>"
        for name, rows in sheets.items()
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {SPACES} office:version="1.3"><office:body>'
        f"<office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        '<?xml version="1.0" encoding="UTF-8"?>'
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" manifest:version="1.3">'
        '<manifest:file-entry manifest:full-path="/" '
        'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)
    return file.getvalue()


WRITERS = {"xlsx": xlsx, "ods": ods}
