"""
ties.py FIO KICKIO JSON: whether two reports of the same numbers are equal but for ties.

fio's JSON rounds a mean or deviation to six decimals; its other reports round the same number to fewer, in another unit. Where the six
decimals end at half a unit of the other report's last one, they do not tell which way it goes. Exit status 0: no token differs but
numbers of as many decimals, one unit of the last apart, with a mean or deviation of JSON half-way between them.
"""
import json
import re
import sys
from decimal import Decimal

NUMBER = re.compile(r"\d+\.\d+|\d+")
HALF_OF_THE_LAST = Decimal("0.0000006")


def rounded(value, found):
    """Every mean and deviation below value, into found."""
    if isinstance(value, dict):
        for key, below in value.items():
            if isinstance(below, Decimal) and re.search("mean|dev", key):
                found.append(below)
            rounded(below, found)
    elif isinstance(value, list):
        for below in value:
            rounded(below, found)
    return found


def is_tie(a, b, values):
    if "." not in a or len(a.partition(".")[2]) != len(b.partition(".")[2]):
        return False
    a, b = Decimal(a), Decimal(b)
    if abs(a - b) != Decimal(1).scaleb(a.as_tuple().exponent):
        return False
    middle = (a + b) / 2
    return any(abs(v / unit - middle) <= HALF_OF_THE_LAST / unit for v in values for unit in (1, 1000, 1000000))


def same(a, b, values):
    blank = [re.sub(r"\s+", " ", NUMBER.sub("#", text)) for text in (a, b)]
    return blank[0] == blank[1] and all(x == y or is_tie(x, y, values) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


fio, kickio = (open(name).read() for name in sys.argv[1:3])
values = rounded(json.load(open(sys.argv[3]), parse_float=Decimal), [])
sys.exit(0 if same(fio, kickio, values) else 1)
