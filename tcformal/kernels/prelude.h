/* One text for OpenCL C, CUDA C++ and HIP: what they name differently. */
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define TC_KERNEL __kernel
#define TC_GLOBAL __global
#define TC_LOCAL __local
#define TC_RESTRICT restrict
#define TC_ARRAY(type, name, size) __local type name[size] __attribute__((aligned(16)))
#define TC_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define TC_GROUP get_group_id(0)
#define TC_ITEM get_local_id(0)
#define TC_ITEMS get_local_size(0)
typedef uchar tc_u8;
typedef ushort tc_u16;
typedef uint tc_u32;
typedef ulong tc_u64;
typedef int tc_s32;
typedef long tc_s64;
#else
#define TC_KERNEL extern "C" __global__
#define TC_GLOBAL
#define TC_LOCAL
#define TC_RESTRICT __restrict__
#define TC_ARRAY(type, name, size) __shared__ __align__(16) type name[size]
#define TC_BARRIER() __syncthreads()
#define TC_GROUP blockIdx.x
#define TC_ITEM threadIdx.x
#define TC_ITEMS blockDim.x
typedef unsigned char tc_u8;
typedef unsigned short tc_u16;
typedef unsigned int tc_u32;
typedef unsigned long long tc_u64;
typedef int tc_s32;
typedef long long tc_s64;
#endif
#ifdef TC_WIDE
typedef unsigned __int128 tc_u128;
typedef __int128 tc_s128;
#endif
