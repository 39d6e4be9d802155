package train

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"

	"github.com/dptrain/dptrain/internal/compile"
	"github.com/dptrain/dptrain/internal/engine"
)

// An identity is a hash of everything that decides a run's course, except its key: settings, members, data, initial
// values, model and arithmetic.
//
// A run that goes on from another's state ([Settings].From) to more steps has an identity of its own: its number of
// steps differs, and so does its initial state. So even from the same key it draws by other stream keys (see derive),
// and each of its steps has noise and a minibatch that no step of the other run had. Sharing them would break privacy:
// if step numbers alone named the streams, two continuations of one state, with other data or another learning rate,
// would have equal noise on different sums.
type identity [sha256.Size]byte

// identityOf returns the identity of a run with checked settings. rates are the factors of its learning rate at each
// step, or nil without a schedule.
func identityOf(p *compile.Program, arithmetic string, data *Data, s Settings, rates []float64) identity {
	settings, err := json.Marshal(struct {
		Privacy   Privacy
		Optimizer Optimizer
		Trial     uint32
		Samples   int
		All       bool // no list of members
		Engine    string
	}{s.Privacy, s.Optimizer, s.Trial, data.Samples(), s.Members == nil, arithmetic})
	if err != nil {
		panic(err) // plain numbers and names, all checked to be finite, and a rule that was encoded before
	}
	h := sha256.New()
	h.Write([]byte("dptrain run 5\n"))
	for _, sum := range [][sha256.Size]byte{p.Digest(), data.digest(), digest(engine.Floats(s.Initial...)...)} {
		h.Write(sum[:])
	}
	members := make([]byte, 0, 4*len(s.Members))
	for _, m := range s.Members {
		members = binary.LittleEndian.AppendUint32(members, uint32(m))
	}
	sum := sha256.Sum256(members)
	h.Write(sum[:])
	h.Write(settings)
	// Each part names itself: the settings don't determine which parts follow.
	if rates != nil {
		h.Write([]byte("rates"))
		h.Write(factorBytes(rates))
	}
	if s.Optimizer.Rule != nil || len(s.Optimizer.Groups) > 0 { // which find parameters by their names
		h.Write([]byte("names"))
		for _, param := range p.Params {
			sum := sha256.Sum256([]byte(param.Name))
			h.Write(sum[:])
		}
	}
	if s.From != nil {
		sum := s.From.digest()
		h.Write([]byte("from"))
		h.Write(sum[:])
	}
	return identity(h.Sum(nil))
}

// derive returns the run's own key for a purpose, from which neither the given key nor the key for another purpose can
// be learned.
//
// A run draws from the key for "streams" instead of the given one. The difference of two releases with the same noise
// is a gradient without noise, so runs that differ in anything must not share noise, even if a caller gives all of them
// one key. Equal runs may, because they release the same model.
func (id identity) derive(key Key, purpose string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(purpose))
	mac.Write(id[:])
	return [sha256.Size]byte(mac.Sum(nil))
}
