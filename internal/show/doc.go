// Package show makes texts of others, such as names of columns, fit to be shown: on a terminal by [Printable], and in
// advice that is pasted into a shell by [Quoted].
package show
