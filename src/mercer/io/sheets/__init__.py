"""Spreadsheets: .xlsx and .ods."""
