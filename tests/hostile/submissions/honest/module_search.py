"""expect: accepted. Imports half of the standard library."""

import csv
import decimal
import fractions
import hashlib
import html
import sqlite3
import statistics
import unittest.mock
import zipfile
import zoneinfo

print(len((csv, decimal, fractions, hashlib, html, sqlite3, statistics, unittest, zipfile, zoneinfo)))


def add_one(x):
    return x + 1
