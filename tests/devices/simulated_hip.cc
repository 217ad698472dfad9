/* HIP on the host: as KERNEL, the code object of one unit; otherwise its runtime library, which loads such objects.
 *
 * What the instruction does is up to the test: `simulate` is given a function that takes the intrinsic's call and what
 * the lanes hold of A, B, C and the index, and gives what they hold of D.  Without one, D is C.
 */
#ifdef KERNEL
#include <stdint.h>
#define THREAD threadIdx.x
#define BLOCK blockIdx.x
#define MULTIPLY exchanged(ra, sizeof ra, rb, sizeof rb, rc, sizeof rc, INDEX)
#include "simulated.h"

enum { MOST = 1 << 16 };
static char operands[MOST], products[MOST];
static size_t taken_bytes, given_bytes;

static void exchanged(const void *a, size_t a_bytes, const void *b, size_t b_bytes, void *c, size_t c_bytes,
                      uint32_t index) {
    if (results) {
        memcpy(c, products + given_bytes, c_bytes);
        given_bytes += c_bytes;
        return;
    }
    memcpy(operands + taken_bytes, a, a_bytes);
    memcpy(operands + taken_bytes + a_bytes, b, b_bytes);
    memcpy(operands + taken_bytes + a_bytes + b_bytes, c, c_bytes);
    memcpy(operands + taken_bytes + a_bytes + b_bytes + c_bytes, &index, 4);
    memcpy(products + given_bytes, c, c_bytes);
    taken_bytes += a_bytes + b_bytes + c_bytes + 4, given_bytes += c_bytes;
}
#include "instruction.h"
#ifdef UNSELECTED
#define INDEX index
#else
#define INDEX 0
#endif
#include "mfma.hip"

#define QUOTED(x) #x
#define TEXT(x) QUOTED(x)
/* What a disassembler is to find. */
extern "C" const char seen[] = "SIMULATED " TEXT(TARGET) " " TEXT(INTRINSIC(a,b,c));

typedef void (*Multiply)(const char *, const char *, size_t, char *, size_t);

extern "C" void wavefronts(void **arguments, unsigned blocks, unsigned threads, Multiply multiply) {
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) {
        taken_bytes = 0;
        for (results = 0; results < 2; results++) {
            given_bytes = 0;
            for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++)
                probe(*(AB_A **)arguments[0], *(AB_B **)arguments[1], *(CD **)arguments[2], *(CD **)arguments[3],
                      *(uint64_t *)arguments[4]);
            if (!results && multiply)
                multiply(TEXT(INTRINSIC(a,b,c)), operands, taken_bytes, products, given_bytes);
        }
    }
}
#else
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Multiply)(const char *, const char *, size_t, char *, size_t);
typedef void (*Wavefronts)(void **, unsigned, unsigned, Multiply);

static Multiply multiply;
extern "C" {
int loads, launches, held;

void simulate(Multiply function) {
    multiply = function;
}

/* The call that SIMULATED_FAILURE names fails. */
static int failing(const char *name) {
    const char *wanted = getenv("SIMULATED_FAILURE");
    return wanted && !strcmp(name, wanted) ? 719 : 0;
}

const char *hipGetErrorString(int code) {
    return code == 719 ? "unspecified launch\nfailure" : code == 209 ? "no kernel image for this device" : "";
}
int hipGetDeviceCount(int *count) {
    const char *text = getenv("SIMULATED_GPUS");
    *count = text ? atoi(text) : 1;
    return failing("hipGetDeviceCount");
}
int hipSetDevice(int) {
    return failing("hipSetDevice");
}
int hipDeviceGetName(char *name, int size, int) {
    strncpy(name, "AMD Instinct MI210", size);
    return failing("hipDeviceGetName");
}
int hipGetDevicePropertiesR0600(char *facts, int) {
    const char *text = getenv("SIMULATED_TARGET");
    strcpy(facts, "AMD Instinct MI210"), strcpy(facts + 1160, text ? text : "gfx90a:sramecc+:xnack-");
    return failing("hipGetDevicePropertiesR0600");
}
int hipRuntimeGetVersion(int *version) {
    *version = 60241133;
    return failing("hipRuntimeGetVersion");
}
int hipMalloc(void **memory, size_t size) {
    *memory = malloc(size), held++;
    return failing("hipMalloc");
}
int hipFree(void *memory) {
    free(memory), held--;
    return 0;
}
int hipMemset(void *memory, int value, size_t size) {
    memset(memory, value, size);
    return failing("hipMemset");
}
int hipMemcpy(void *to, const void *source, size_t size, int kind) {
    memcpy(to, source, size);
    return kind == 1 || kind == 2 ? failing("hipMemcpy") : 21;
}
int hipModuleLoad(void **module, const char *path) {
    *module = dlopen(path, RTLD_NOW | RTLD_LOCAL), loads++;
    return *module ? failing("hipModuleLoad") : 209;
}
int hipModuleGetFunction(void **function, void *module, const char *name) {
    *function = strcmp(name, "probe") ? NULL : dlsym(module, "wavefronts");
    return *function ? failing("hipModuleGetFunction") : 500;
}
int hipModuleLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned y_threads,
                          unsigned z_threads, unsigned, void *, void **arguments, void **) {
    if (y != 1 || z != 1 || y_threads != 1 || z_threads != 1)
        return 1;
    launches++;
    ((Wavefronts)function)(arguments, x, threads, multiply);
    return failing("hipModuleLaunchKernel");
}
int hipDeviceSynchronize(void) {
    return failing("hipDeviceSynchronize");
}
}
#endif
