# What differs between two runs of the same line: numbers, the unit they are in, dates.
s/kickio-[0-9.]*/kickio-VERSION/
s/[A-Z][a-z][a-z] [A-Z][a-z][a-z]  *[0-9]* [0-9:]* 20[0-9][0-9]/DATE/
s/([numk]sec)/(UNIT)/
s/^  lat (UNIT)   : .*/  lat (UNIT)   : CLASSES/
s/=  *\([0-9]\)/=\1/g
s/[0-9][0-9]*\(\.[0-9][0-9]*\)*[KkMGT]\{0,1\}i\{0,1\}\(B\/s\)/NB\/s/g
s/[0-9][0-9]*\(\.[0-9][0-9]*\)*[kMG]\{0,1\}/N/g
s/\[ *N/[N/g
