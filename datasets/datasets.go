package datasets

import (
	"context"

	"github.com/dptrain/dptrain/internal/datasets"
	"github.com/dptrain/dptrain/train"
)

// DirVariable is the name of the environment variable that holds the path of a folder of data sets. The folder has one
// folder for each set, for example with the file $DPTRAIN_DATA/mnist/train-images-idx3-ubyte.gz.
const DirVariable = datasets.DirVariable

// Kinds of errors, for [errors.Is].
var (
	// ErrInvalid reports data that are damaged, or whose format or values are wrong.
	ErrInvalid = datasets.ErrInvalid
	// ErrUnavailable reports data that are not on this machine, when no mirror can be reached.
	ErrUnavailable = datasets.ErrUnavailable
)

// UnknownError reports that no data set has the name. Its field Name is that name, Known has the names of all sets, and
// Nearest is the most similar one, or empty if none is similar.
type UnknownError = datasets.UnknownError

// Options are the folders of data sets, and how to load them. The zero value is right for most programs.
//
// Dir has one folder for each data set and is never written to. Empty means the value of [DirVariable]; if that is
// empty too, only Cache is searched. Cache is the folder for downloads and for the rendered glyphs, with one folder for
// each data set. Empty means the folder dptrain in [os.UserCacheDir]. TextLength is the number of tokens that texts are
// cut and padded to, including [CLS] and [SEP]. 0 means 256. Progress, if not nil, is called on the caller's goroutine
// while files are downloaded and texts become tokens.
type Options = datasets.Options

// Progress is the progress of a task. Its field Task is "downloading" or "tokenising", Set the name of the data set,
// File the name of the file, or "reviews" for texts. Done and Total count bytes, or texts.
type Progress = datasets.Progress

// Info describes a data set. Its fields are the set's Name, its Kind ("images" or "texts"), a Description, the numbers
// of samples in Train and Test, SampleShape and Classes as in [Split], ClassNames by index, which are nil if the names
// are the indices, the Vocabulary of texts, the Bytes of all files, their Source, Licence and Citation.
type Info = datasets.Info

// Names returns the names of the data sets, the default one first.
func Names() []string { return datasets.Names() }

// Describe describes the named data set without looking for its files. The error is an [*UnknownError].
func Describe(name string) (Info, error) { return datasets.Describe(name) }

// Split is the training or the test part of a data set: N samples and their classes. SampleShape is the shape of a
// sample without the batch axis: [1 28 28] is one channel of 28 rows, and [256] a text. SampleSize returns the number
// of its values or tokens.
//
// Samples are the normalised samples, row-major. Texts have Tokens and Weights instead. Tokens are from 0 to
// Vocabulary-1, row-major; short texts are padded with token 0. Weights are 1/k for each of a text's k real tokens, and
// 0 for the padding, so that a weighted sum over tokens is their mean. Labels are class indices from 0 to Classes-1.
type Split = datasets.Split

// Set is a data set that is ready for training.
type Set struct {
	Name          string
	Train, Test   Split
	Normalisation datasets.Normalisation // Mean and Std of each channel of images: see the package comment
	Edition       datasets.State         // "ok", "unofficial" or "unverified": whether its files are the published ones
}

// Open returns the named data set. It downloads missing files; a later call resumes an interrupted download. The error
// is an [*UnknownError] for an unknown name, or the context's error. It matches [ErrUnavailable] if a download fails,
// and [ErrInvalid] if a file is wrong.
func Open(ctx context.Context, name string, o Options) (*Set, error) {
	set, err := datasets.Open(ctx, name, o)
	return (*Set)(set), err
}

// Classification returns copies of the set's two parts for package train, with one-hot labels as the graphs of package
// models take them.
func (s *Set) Classification() (training, test *train.Classification, err error) {
	if training, err = classification(s.Train); err != nil {
		return nil, nil, err
	}
	test, err = classification(s.Test)
	return training, test, err
}

func classification(s Split) (*train.Classification, error) {
	if s.Tokens != nil {
		return train.NewTokenClassification(s.Tokens, s.Labels, s.Classes, s.Weights)
	}
	return train.NewClassification(s.Samples, s.Labels, s.Classes)
}

// Tokenise returns texts in the form in which [Open] returns the texts of data set imdb: each is cut or padded to the
// text length of the options. The split has no labels. It downloads the vocabulary if it is missing.
func Tokenise(ctx context.Context, texts [][]byte, o Options) (Split, error) {
	return datasets.Tokenise(ctx, texts, o)
}
