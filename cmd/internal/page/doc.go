// Package page writes reports on runs as HTML pages that need nothing else: no script, no font, no picture, no network.
// [Open] reads a run's released files and [OpenPrivate] its private ones. [Account] computes the accounting curves of a
// released run. [Public] and [Private] return the pages, and [Place.Write] writes them:
//
//	DIR/report.html           from released/ and run.json alone; may be published with them
//	DIR/private/report.html   trials, times; mode 0600
//
// A [Run] has no field for a private value and Open looks into no other folder, so the public page can't show one. It
// has no time either: the same release gives the same bytes, and the page's modification time is the release's.
//
// Names of classes, columns, data sets and folders are hostile text. Templates escape them, characters that control a
// terminal or reverse the direction of text become spaces, and a content security policy forbids all but the page's own
// style sheet.
//
// Package figure draws the charts, as SVG in the page with colours of the style sheet, so that they follow dark mode
// and print. Each has a label for screen readers and a table of its numbers.
package page
