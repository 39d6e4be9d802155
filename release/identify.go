package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// identify returns the SPDX identifiers of the licences in a text, sorted: none if it knows none of them. A text may
// have several licences, and a licence may be named by another, so it looks for sentences that grant something.
func identify(text []byte) []string {
	plain := strings.ToLower(strings.Join(strings.Fields(comments.ReplaceAllString(string(text), " ")), " "))
	found := map[string]bool{}
	for id, sentence := range grants {
		if strings.Contains(plain, sentence) {
			found[id] = true
		}
	}
	if strings.Contains(plain, "licensed under the apache license, version 2.0") {
		found["Apache-2.0"] = true // a file that refers to it
	}
	if strings.Contains(plain, "redistribution and use in source and binary forms") {
		if strings.Contains(plain, "endorse or promote products") || strings.Contains(plain, "used to endorse") {
			found["BSD-3-Clause"] = true
		} else {
			found["BSD-2-Clause"] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// comments are the decorations of a text in lines.
var comments = regexp.MustCompile(`(?m)^[ \t]*(//|#|\*|>)`)

// grants has, for each licence, a sentence in lower case that no other one has.
var grants = map[string]string{
	"Apache-2.0":    "apache license version 2.0, january 2004",
	"MIT":           "permission is hereby granted, free of charge, to any person obtaining a copy",
	"ISC":           "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee",
	"MPL-2.0":       "mozilla public license version 2.0",
	"OFL-1.1":       "sil open font license version 1.1",
	"Unlicense":     "this is free and unencumbered software released into the public domain",
	"FTL":           "the freetype project license",
	"GPL-2.0-only":  "gnu general public license version 2, june 1991",
	"GPL-3.0-only":  "gnu general public license version 3, 29 june 2007",
	"LGPL-3.0-only": "gnu lesser general public license version 3, 29 june 2007",
	"BSL-1.0":       "boost software license - version 1.0",
	"CC0-1.0":       "creative commons legal code cc0 1.0 universal",
	"CC-BY-3.0":     "creative commons attribution 3.0",
	"CC-BY-4.0":     "creative commons attribution 4.0 international public license",
}

// chosen has the modules whose licence is more than a list of the texts that come with it, by path.
var chosen = map[string]string{
	"github.com/golang/freetype": "FTL OR GPL-2.0-or-later", // its LICENSE: "your choice of exactly one"
}
