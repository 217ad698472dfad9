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
typedef uchar tc_u8;
typedef ushort tc_u16;
typedef uint tc_u32;
typedef ulong tc_u64;
typedef int tc_s32;
typedef long tc_s64;
#else
#define TC_GLOBAL
#define TC_LOCAL
#define TC_RESTRICT __restrict__
#ifdef __HIP__ /* without any header of ROCm */
#define TC_KERNEL extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 128)))
#define TC_ARRAY(type, name, size) __attribute__((shared, aligned(16))) type name[size]
#define TC_BARRIER()                                    \
    do {                                                \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
        __builtin_amdgcn_s_barrier();                   \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
    } while (0)
#define TC_GROUP __builtin_amdgcn_workgroup_id_x()
#define TC_ITEM __builtin_amdgcn_workitem_id_x()
#else
#define TC_KERNEL extern "C" __global__
#define TC_ARRAY(type, name, size) __shared__ __align__(16) type name[size]
#define TC_BARRIER() __syncthreads()
#define TC_GROUP blockIdx.x
#define TC_ITEM threadIdx.x
#endif
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
