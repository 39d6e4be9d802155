package cuda

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The words that lower writes are those that kernels read: every name of the headers' lists has its number here.
func TestWordsAreTheKernels(t *testing.T) {
	want := map[string]int{
		"op_unary": opUnary, "op_binary": opBinary, "op_scalar": opScalar, "op_matmul": opMatmul, "op_conv": opConv,
		"op_maxpool": opMaxpool, "op_gather": opGather, "op_scatter": opScatter, "op_softmax": opSoftmax,
		"op_logsoftmax": opLogsoftmax, "op_fill": opFill, "op_unary_back": opUnaryBack, "op_binary_back": opBinaryBack,
		"op_scalar_back": opScalarBack, "op_matmul_back": opMatmulBack, "op_conv_back": opConvBack,
		"op_maxpool_back": opMaxpoolBack, "op_softmax_back": opSoftmaxBack, "op_logsoftmax_back": opLogsoftmaxBack,
		"op_grad_matmul": opGradMatmul, "op_grad_conv": opGradConv,
		"op_lookup": opLookup, "op_grad_lookup": opGradLookup, "op_merge": opMerge, "operations": operations,
		"word_op": wordOp, "word_wait": wordWait, "word_func": wordFunc, "word_add": wordAdd, "word_side": wordSide,
		"word_scalar": wordScalar, "word_size": wordSize, "word_out": wordOut, "word_in0": wordIn0, "word_in1": wordIn1,
		"word_in2": wordIn2, "word_in3": wordIn3, "word_where": wordWhere, "word_rows": wordRows, "word_k": wordK,
		"word_n": wordN, "word_transposed": wordTransposed, "word_c": wordC, "word_table": wordTable, "word_warp": wordWarp,
		"words": words, "nowhere": nowhere, "in_buffer": inBuffer, "in_data": inData, "in_params": inParams,
		"in_constants": inConstants, "in_integers": inIntegers, "of_gradient": ofGradient, "of_product": ofProduct, "of_rows": ofRows, "sum_rule": sumRule, "sum_param": sumParam, "sum_size": sumSize, "sum_x": sumX,
		"sum_delta": sumDelta, "sum_k": sumK, "sum_n": sumN, "sum_transposed": sumTransposed, "sum_words": sumWords,
		"clock_columns": clockColumns, "setting_columns": settingColumns, "identity_columns": identityColumns,
		"draw_threads": drawThreads,
	}
	for k, name := range []string{"h", "w", "kh", "kw", "pad_h", "pad_w", "stride_h", "stride_w", "dilation_h", "dilation_w", "out_c", "out_h", "out_w"} {
		want["word_"+name] = wordC + 1 + k
	}
	got := map[string]int{}
	for _, file := range []string{"program.cuh", "run.cuh", "draw.cu"} {
		enums(t, source(t, file), got)
	}
	for name, n := range got {
		known := strings.HasPrefix(name, "op") || strings.HasPrefix(name, "word") || strings.HasPrefix(name, "in_") || strings.HasPrefix(name, "of_") || strings.HasPrefix(name, "sum_")
		if w, ok := want[name]; ok && w != n || !ok && known {
			t.Errorf("%s is %d to kernels and %d (%v) here", name, n, w, ok)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("kernels know no %s", name)
		}
	}
}

var (
	enumText = regexp.MustCompile(`(?s)enum\s*\{(.*?)\}`)
	comment  = regexp.MustCompile(`//[^\n]*`)
)

// enums reads lists of names whose numbers follow from one another, or from an earlier name.
func enums(t *testing.T, text string, into map[string]int) {
	t.Helper()
	for _, m := range enumText.FindAllStringSubmatch(comment.ReplaceAllString(text, ""), -1) {
		next := 0
		for entry := range strings.SplitSeq(m[1], ",") {
			name, value, given := strings.Cut(strings.TrimSpace(entry), "=")
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			if given {
				next = 0
				for term := range strings.SplitSeq(value, "+") {
					term = strings.TrimSpace(term)
					n, err := strconv.Atoi(term)
					if err != nil {
						earlier, ok := into[term]
						if !ok {
							t.Fatalf("%s = %s", name, value)
						}
						n = earlier
					}
					next += n
				}
			}
			into[name] = next
			next++
		}
	}
}
