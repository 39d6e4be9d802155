// Package suggest makes settings files about a person's own files, with comments for that person: [Describe] from a
// public file, [Columns] from what the person knows about the columns. [File.YAML] returns the file.
package suggest
