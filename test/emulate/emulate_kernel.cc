// SPDX-License-Identifier: Apache-2.0
// Facts about a kernel of which only the address is known: its name and its variables in shared memory. Both come from the
// program's symbol table.
//
// Invariant: between two kernels all shared memory is NaN (0xff bytes), and so is a kernel's shared memory at the start of a
// block, so reads of unwritten memory show. A kernel's variables (its own and those of functions it calls) are those that are
// no longer NaN after a block.
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <unordered_map>

#include "test/emulate/emulate_inside.h"

enum { SHARED_MAX = 48 << 10 };  // per block, by default

struct symbol {
    uintptr_t at;
    std::string name;
};
static std::vector<struct symbol> functions;
static std::vector<struct emulate_shared_variable> shared_memory;  // of all kernels
static std::unordered_map<const void *, struct emulate_facts> known;

static std::string plain_name(const std::string &symbol)
{
    char *plain = abi::__cxa_demangle(symbol.c_str(), NULL, NULL, NULL);
    std::string name = plain ? plain : symbol;
    free(plain);
    return name;
}

static int first_base(struct dl_phdr_info *info, size_t, void *base)
{
    *(uintptr_t *)base = info->dlpi_addr;  // the program itself is listed first
    return 1;
}

static void read_symbols()
{
    uintptr_t base = 0;
    dl_iterate_phdr(first_base, &base);
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) emulate_die("the program's executable cannot be read");
    const char *file = (const char *)mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED) emulate_die("the program's executable cannot be read");
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)file;
    const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + head->e_shoff);
    const char *titles = file + sections[head->e_shstrndx].sh_offset;
    for (int s = 0; s < head->e_shnum; s++) {
        if (sections[s].sh_type != SHT_SYMTAB) continue;
        const char *names = file + sections[sections[s].sh_link].sh_offset;
        const ElfW(Sym) *list = (const ElfW(Sym) *)(file + sections[s].sh_offset);
        for (size_t i = 0; i < sections[s].sh_size / sizeof *list; i++) {
            unsigned section = list[i].st_shndx;
            if (section == SHN_UNDEF || section >= head->e_shnum) continue;
            std::string name = names + list[i].st_name;
            uintptr_t at = base + list[i].st_value;
            unsigned type = ELF64_ST_TYPE(list[i].st_info);
            if (type == STT_FUNC) functions.push_back({at, name});
            // A variable v of a C++ function _Zf is called _ZZfE1v. Only kernels have such variables; the emulator itself
            // avoids them.
            else if (type == STT_OBJECT && name.compare(0, 3, "_ZZ") == 0 && sections[section].sh_flags & SHF_WRITE &&
                     !strstr(titles + sections[section].sh_name, ".rel.ro"))  // constants that hold addresses
                shared_memory.push_back({(unsigned char *)at, list[i].st_size, plain_name(name)});
        }
    }
    munmap((void *)file, (size_t)st.st_size);
    if (functions.empty()) emulate_die("this program was stripped: the emulator needs its symbol table");
    for (const struct emulate_shared_variable &v : shared_memory) memset(v.at, 0xff, v.size);
}

struct emulate_facts &emulate_facts_of(const void *address)
{
    auto found = known.find(address);
    if (found != known.end()) return found->second;
    if (functions.empty()) read_symbols();
    struct emulate_facts &facts = known[address];
    facts.name = "a kernel without a name";
    for (const struct symbol &f : functions)
        if (f.at == (uintptr_t)address) facts.name = plain_name(f.name);
    return facts;
}

// All bytes are 0xff if the first is, and each equals the one before. Every launch asks this of the variables of all kernels.
static bool was_written(const struct emulate_shared_variable &v)
{
    return v.size > 0 && (v.at[0] != 0xff || memcmp(v.at, v.at + 1, v.size - 1) != 0);
}

void emulate_fill_shared(const struct emulate_facts &facts)
{
    for (const struct emulate_shared_variable *v : facts.shared) memset(v->at, 0xff, v->size);
}

void emulate_learn_shared(struct emulate_facts &facts)
{
    emulate_fill_shared(facts);
    for (const struct emulate_shared_variable &v : shared_memory) {
        if (!was_written(v)) continue;
        memset(v.at, 0xff, v.size);
        facts.shared.push_back(&v);
        facts.shared_bytes += v.size;
    }
    if (facts.shared_bytes > SHARED_MAX)
        emulate_die("%zu bytes of shared memory, but a block has %d", facts.shared_bytes, SHARED_MAX);
}
