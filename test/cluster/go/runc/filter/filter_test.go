package filter

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/opencontainers/runc/libcontainer/configs"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const large = uint64(5) << 32

func TestComparisons(t *testing.T) {
	tests := []struct {
		name  string
		op    configs.Operator
		value uint64
		two   uint64
		holds []uint64
		fails []uint64
	}{
		{"equal", configs.EqualTo, large + 7, 0, []uint64{large + 7}, []uint64{7, large, large + 8}},
		{"not equal", configs.NotEqualTo, large + 7, 0, []uint64{7, large, large + 8}, []uint64{large + 7}},
		{"less", configs.LessThan, large + 7, 0, []uint64{0, 9, large + 6}, []uint64{large + 7, large + 8, 2 * large}},
		{"less or equal", configs.LessThanOrEqualTo, large + 7, 0, []uint64{9, large + 7}, []uint64{large + 8, 2 * large}},
		{"greater", configs.GreaterThan, large + 7, 0, []uint64{large + 8, 2 * large}, []uint64{9, large + 6, large + 7}},
		{"greater or equal", configs.GreaterThanOrEqualTo, large + 7, 0, []uint64{large + 7, 2 * large}, []uint64{9, large + 6}},
		{"masked", configs.MaskEqualTo, large + 6, 2, []uint64{2, 3, 2*large + 2}, []uint64{0, 4, 6, large + 2}},
	}
	for _, test := range tests {
		profile := &configs.Seccomp{DefaultAction: configs.Errno, Syscalls: []*configs.Syscall{
			{Name: "read", Action: configs.Allow},
			{Name: "socket", Action: configs.Allow, Args: []*configs.Arg{
				{Index: 1, Value: 1, Op: configs.EqualTo},
				{Index: 2, Value: test.value, ValueTwo: test.two, Op: test.op},
			}},
			{Name: "clone3", Action: configs.Errno, ErrnoRet: number(unix.ENOSYS)},
			{Name: "no such call", Action: configs.Allow},
		}}
		for _, value := range test.holds {
			expect(t, profile, fmt.Sprintf("%s: %#x", test.name, value), call{"socket", 1, value}, unix.SECCOMP_RET_ALLOW)
			expect(t, profile, "another argument", call{"socket", 2, value}, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM))
		}
		for _, value := range test.fails {
			expect(t, profile, fmt.Sprintf("not %s: %#x", test.name, value), call{"socket", 1, value}, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM))
		}
		expect(t, profile, "before", call{"read", 0, 0}, unix.SECCOMP_RET_ALLOW)
		expect(t, profile, "after", call{"clone3", 0, 0}, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS))
		expect(t, profile, "default", call{"write", 0, 0}, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM))
	}
}

type call struct {
	name          string
	second, third uint64
}

func number(errno unix.Errno) *uint {
	value := uint(errno)
	return &value
}

// expect runs the filter on a system call, in words of the interpreter's byte order.
func expect(t *testing.T, profile *configs.Seccomp, name string, made call, wanted uint32) {
	t.Helper()
	program, err := compile(profile)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64)
	put := func(offset int, value uint32) { binary.BigEndian.PutUint32(data[offset:], value) }
	put(numberAt, uint32(machine.SyscallNames[made.name]))
	put(architectureAt, uint32(machine.ID))
	for i, argument := range []uint64{0, made.second, made.third} {
		put(argumentsAt+8*i, uint32(argument))
		put(argumentsAt+8*i+4, uint32(argument>>32))
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	if uint32(got) != wanted {
		t.Errorf("%s: got %#x, wanted %#x", name, uint32(got), wanted)
	}
}
