/* Types that Bochs' configuration defines. */
#include <stdint.h>
typedef uint8_t Bit8u; typedef uint16_t Bit16u; typedef uint32_t Bit32u; typedef uint64_t Bit64u;
typedef int8_t Bit8s; typedef int16_t Bit16s; typedef int32_t Bit32s; typedef int64_t Bit64s;
#define BX_CPP_INLINE inline
#define BX_CONST64(x) (x##LL)
#define BX_CPP_AttrRegparmN(x)
