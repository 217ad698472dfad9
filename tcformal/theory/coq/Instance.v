(** vortex/VX_tcu_fedp_dpi.fp16: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Unit.
Import ListNotations.
Open Scope Z_scope.
Definition unit_circuit : circuit := [
  Node 2 16 Input;
  Node 3 16 Input;
  Node 4 16 Input;
  Node 5 16 Input;
  Node 6 16 Input;
  Node 7 16 Input;
  Node 8 16 Input;
  Node 9 16 Input;
  Node 10 32 Input;
  Node 11 8 (Extract 23 10);
  Node 12 1 (Extract 31 10);
  Node 13 8 (Const 0);
  Node 14 1 (Eq 11 13);
  Node 15 1 (Not 14);
  Node 16 23 (Extract 0 10);
  Node 17 24 (Concat 15 16);
  Node 18 23 (Const 0);
  Node 19 1 (Eq 16 18);
  Node 22 1 (And 14 19);
  Node 23 8 (Const 255);
  Node 24 1 (Eq 11 23);
  Node 25 1 (Const 0);
  Node 26 1 (And 19 24);
  Node 27 1 (Not 19);
  Node 28 1 (And 24 27);
  Node 29 8 (Zext 14);
  Node 30 8 (Or 11 29);
  Node 31 32 (Const 2143289344);
  Node 32 5 (Extract 10 2);
  Node 33 1 (Extract 15 2);
  Node 34 5 (Const 0);
  Node 35 1 (Eq 32 34);
  Node 36 1 (Not 35);
  Node 37 10 (Extract 0 2);
  Node 38 11 (Concat 36 37);
  Node 39 10 (Const 0);
  Node 40 1 (Eq 37 39);
  Node 43 1 (And 35 40);
  Node 44 5 (Const 31);
  Node 45 1 (Eq 32 44);
  Node 46 1 (And 40 45);
  Node 47 1 (Not 40);
  Node 48 1 (And 45 47);
  Node 49 5 (Zext 35);
  Node 50 5 (Or 32 49);
  Node 51 5 (Extract 10 3);
  Node 52 1 (Extract 15 3);
  Node 53 1 (Eq 34 51);
  Node 54 1 (Not 53);
  Node 55 10 (Extract 0 3);
  Node 56 11 (Concat 54 55);
  Node 57 1 (Eq 39 55);
  Node 59 1 (And 53 57);
  Node 60 1 (Eq 44 51);
  Node 61 1 (And 57 60);
  Node 62 1 (Not 57);
  Node 63 1 (And 60 62);
  Node 64 5 (Zext 53);
  Node 65 5 (Or 51 64);
  Node 66 1 (Xor 33 52);
  Node 67 22 (Mul 38 56);
  Node 68 6 (Zext 50);
  Node 69 6 (Zext 65);
  Node 70 6 (Add 68 69);
  Node 71 1 (Or 43 59);
  Node 72 1 (And 46 59);
  Node 73 1 (And 43 61);
  Node 74 1 (Or 72 73);
  Node 75 1 (Or 48 63);
  Node 76 1 (Or 74 75);
  Node 77 1 (Or 46 61);
  Node 78 1 (Not 76);
  Node 79 1 (And 77 78);
  Node 80 24 (Const 0);
  Node 81 1 (Const 1);
  Node 82 16 (Extract 6 67);
  Node 83 16 (Const 0);
  Node 84 1 (Eq 82 83);
  Node 85 6 (Extract 0 67);
  Node 86 22 (Concat 85 83);
  Node 87 22 (Ite 84 86 67);
  Node 88 8 (Extract 14 87);
  Node 89 1 (Eq 13 88);
  Node 90 14 (Extract 0 87);
  Node 91 22 (Concat 90 13);
  Node 92 22 (Ite 89 91 87);
  Node 93 4 (Extract 18 92);
  Node 94 4 (Const 0);
  Node 95 1 (Eq 93 94);
  Node 96 18 (Extract 0 92);
  Node 97 22 (Concat 96 94);
  Node 98 22 (Ite 95 97 92);
  Node 99 2 (Extract 20 98);
  Node 100 2 (Const 0);
  Node 101 1 (Eq 99 100);
  Node 102 20 (Extract 0 98);
  Node 103 22 (Concat 102 100);
  Node 104 22 (Ite 101 103 98);
  Node 105 1 (Extract 21 104);
  Node 106 1 (Eq 25 105);
  Node 107 21 (Extract 0 104);
  Node 108 22 (Concat 107 25);
  Node 109 22 (Ite 106 108 104);
  Node 110 2 (Concat 84 89);
  Node 111 3 (Concat 110 95);
  Node 112 4 (Concat 111 101);
  Node 113 5 (Concat 112 106);
  Node 114 7 (Zext 70);
  Node 115 7 (Const 31);
  Node 116 7 (Add 114 115);
  Node 117 7 (Zext 113);
  Node 118 7 (Sub 116 117);
  Node 119 7 (Const 30);
  Node 120 7 (Add 114 119);
  Node 121 7 (Ite 71 120 118);
  Node 127 8 (Zext 121);
  Node 128 8 (Const 97);
  Node 129 8 (Add 127 128);
  Node 130 8 (Ite 71 13 129);
  Node 131 1 (Ult 130 13);
  Node 132 8 (Ite 131 13 130);
  Node 133 8 (Sub 132 130);
  Node 134 27 (Concat 109 34);
  Node 135 27 (Lshr 134 133);
  Node 136 27 (Shl 135 133);
  Node 137 1 (Eq 134 136);
  Node 138 1 (Not 137);
  Node 139 27 (Zext 138);
  Node 140 27 (Or 135 139);
  Node 141 3 (Const 0);
  Node 142 27 (Const 0);
  Node 143 27 (Lshr 142 132);
  Node 144 27 (Shl 143 132);
  Node 145 1 (Eq 142 144);
  Node 146 1 (Not 145);
  Node 147 27 (Zext 146);
  Node 148 27 (Or 143 147);
  Node 149 28 (Zext 140);
  Node 150 28 (Neg 149);
  Node 151 28 (Ite 66 150 149);
  Node 152 28 (Zext 148);
  Node 154 29 (Sext 151);
  Node 155 29 (Sext 152);
  Node 156 29 (Add 154 155);
  Node 157 33 (Sext 156);
  Node 161 1 (Extract 32 157);
  Node 162 33 (Neg 157);
  Node 163 33 (Ite 161 162 157);
  Node 164 32 (Extract 0 163);
  Node 165 33 (Const 0);
  Node 166 1 (Eq 157 165);
  Node 167 1 (Ite 166 25 161);
  Node 168 8 (Const 26);
  Node 169 1 (Ult 132 168);
  Node 170 8 (Sub 168 132);
  Node 171 8 (Ite 169 170 13);
  Node 172 8 (Const 32);
  Node 173 1 (Ult 171 172);
  Node 174 8 (Ite 173 171 172);
  Node 175 6 (Extract 0 174);
  Node 176 32 (Lshr 164 175);
  Node 177 32 (Shl 176 175);
  Node 178 1 (Eq 164 177);
  Node 179 1 (Not 178);
  Node 180 32 (Zext 179);
  Node 181 32 (Or 176 180);
  Node 182 8 (Ite 169 168 132);
  Node 183 8 (Sub 182 168);
  Node 184 3 (Extract 5 183);
  Node 185 1 (Eq 141 184);
  Node 186 1 (Not 185);
  Node 187 5 (Extract 0 183);
  Node 188 5 (Ite 186 44 187);
  Node 189 16 (Extract 16 181);
  Node 190 1 (Eq 83 189);
  Node 191 1 (Extract 4 188);
  Node 192 1 (Not 190);
  Node 193 1 (And 191 192);
  Node 194 1 (And 190 191);
  Node 195 16 (Extract 0 181);
  Node 196 32 (Concat 195 83);
  Node 197 32 (Ite 194 196 181);
  Node 198 8 (Extract 24 197);
  Node 199 1 (Eq 13 198);
  Node 200 1 (Extract 3 188);
  Node 201 1 (Or 193 200);
  Node 202 1 (Not 199);
  Node 203 1 (And 200 202);
  Node 204 1 (Or 193 203);
  Node 205 1 (And 199 201);
  Node 206 24 (Extract 0 197);
  Node 207 32 (Concat 206 13);
  Node 208 32 (Ite 205 207 197);
  Node 209 4 (Extract 28 208);
  Node 210 1 (Eq 94 209);
  Node 211 1 (Extract 2 188);
  Node 212 1 (Or 204 211);
  Node 213 1 (Not 210);
  Node 214 1 (And 211 213);
  Node 215 1 (Or 204 214);
  Node 216 1 (And 210 212);
  Node 217 28 (Extract 0 208);
  Node 218 32 (Concat 217 94);
  Node 219 32 (Ite 216 218 208);
  Node 220 2 (Extract 30 219);
  Node 221 1 (Eq 100 220);
  Node 222 1 (Extract 1 188);
  Node 223 1 (Or 215 222);
  Node 224 1 (Not 221);
  Node 225 1 (And 222 224);
  Node 226 1 (Or 215 225);
  Node 227 1 (And 221 223);
  Node 228 30 (Extract 0 219);
  Node 229 32 (Concat 228 100);
  Node 230 32 (Ite 227 229 219);
  Node 231 1 (Extract 31 230);
  Node 232 1 (Eq 25 231);
  Node 233 1 (Extract 0 188);
  Node 234 1 (Or 226 233);
  Node 238 1 (And 232 234);
  Node 239 31 (Extract 0 230);
  Node 240 32 (Concat 239 25);
  Node 241 32 (Ite 238 240 230);
  Node 242 2 (Concat 194 205);
  Node 243 3 (Concat 242 216);
  Node 244 4 (Concat 243 227);
  Node 245 5 (Concat 244 238);
  Node 246 8 (Zext 245);
  Node 247 8 (Sub 183 246);
  Node 248 24 (Extract 8 241);
  Node 249 1 (Extract 7 241);
  Node 250 7 (Extract 0 241);
  Node 251 7 (Const 0);
  Node 252 1 (Eq 250 251);
  Node 253 1 (Not 252);
  Node 254 1 (Extract 8 241);
  Node 255 1 (Or 253 254);
  Node 256 1 (And 249 255);
  Node 257 25 (Zext 248);
  Node 258 25 (Zext 256);
  Node 259 25 (Add 257 258);
  Node 260 1 (Extract 24 259);
  Node 261 24 (Const 8388608);
  Node 262 24 (Extract 0 259);
  Node 263 24 (Ite 260 261 262);
  Node 264 1 (Eq 80 263);
  Node 265 9 (Zext 247);
  Node 266 9 (Zext 260);
  Node 267 9 (Add 265 266);
  Node 268 1 (Not 264);
  Node 269 9 (Const 253);
  Node 270 1 (Ult 269 267);
  Node 271 1 (And 268 270);
  Node 272 9 (Const 0);
  Node 273 9 (Ite 264 272 267);
  Node 274 8 (Extract 0 273);
  Node 275 1 (Not 66);
  Node 276 1 (And 79 275);
  Node 277 1 (And 66 79);
  Node 278 1 (And 276 277);
  Node 279 1 (Or 76 278);
  Node 280 1 (Or 276 277);
  Node 281 1 (Or 271 280);
  Node 282 1 (Not 279);
  Node 283 1 (And 281 282);
  Node 284 1 (Ite 280 277 167);
  Node 285 1 (Or 279 280);
  Node 286 1 (Not 285);
  Node 287 1 (And 264 286);
  Node 288 5 (Extract 10 4);
  Node 289 1 (Extract 15 4);
  Node 290 1 (Eq 34 288);
  Node 291 1 (Not 290);
  Node 292 10 (Extract 0 4);
  Node 293 11 (Concat 291 292);
  Node 294 1 (Eq 39 292);
  Node 296 1 (And 290 294);
  Node 297 1 (Eq 44 288);
  Node 298 1 (And 294 297);
  Node 299 1 (Not 294);
  Node 300 1 (And 297 299);
  Node 301 5 (Zext 290);
  Node 302 5 (Or 288 301);
  Node 303 5 (Extract 10 5);
  Node 304 1 (Extract 15 5);
  Node 305 1 (Eq 34 303);
  Node 306 1 (Not 305);
  Node 307 10 (Extract 0 5);
  Node 308 11 (Concat 306 307);
  Node 309 1 (Eq 39 307);
  Node 311 1 (And 305 309);
  Node 312 1 (Eq 44 303);
  Node 313 1 (And 309 312);
  Node 314 1 (Not 309);
  Node 315 1 (And 312 314);
  Node 316 5 (Zext 305);
  Node 317 5 (Or 303 316);
  Node 318 1 (Xor 289 304);
  Node 319 22 (Mul 293 308);
  Node 320 6 (Zext 302);
  Node 321 6 (Zext 317);
  Node 322 6 (Add 320 321);
  Node 323 1 (Or 296 311);
  Node 324 1 (And 298 311);
  Node 325 1 (And 296 313);
  Node 326 1 (Or 324 325);
  Node 327 1 (Or 300 315);
  Node 328 1 (Or 326 327);
  Node 329 1 (Or 298 313);
  Node 330 1 (Not 328);
  Node 331 1 (And 329 330);
  Node 332 16 (Extract 6 319);
  Node 333 1 (Eq 83 332);
  Node 334 6 (Extract 0 319);
  Node 335 22 (Concat 334 83);
  Node 336 22 (Ite 333 335 319);
  Node 337 8 (Extract 14 336);
  Node 338 1 (Eq 13 337);
  Node 339 14 (Extract 0 336);
  Node 340 22 (Concat 339 13);
  Node 341 22 (Ite 338 340 336);
  Node 342 4 (Extract 18 341);
  Node 343 1 (Eq 94 342);
  Node 344 18 (Extract 0 341);
  Node 345 22 (Concat 344 94);
  Node 346 22 (Ite 343 345 341);
  Node 347 2 (Extract 20 346);
  Node 348 1 (Eq 100 347);
  Node 349 20 (Extract 0 346);
  Node 350 22 (Concat 349 100);
  Node 351 22 (Ite 348 350 346);
  Node 352 1 (Extract 21 351);
  Node 353 1 (Eq 25 352);
  Node 354 21 (Extract 0 351);
  Node 355 22 (Concat 354 25);
  Node 356 22 (Ite 353 355 351);
  Node 357 2 (Concat 333 338);
  Node 358 3 (Concat 357 343);
  Node 359 4 (Concat 358 348);
  Node 360 5 (Concat 359 353);
  Node 361 7 (Zext 322);
  Node 362 7 (Add 115 361);
  Node 363 7 (Zext 360);
  Node 364 7 (Sub 362 363);
  Node 365 7 (Add 119 361);
  Node 366 7 (Ite 323 365 364);
  Node 367 16 (Extract 8 263);
  Node 368 1 (Eq 83 367);
  Node 369 8 (Extract 0 263);
  Node 370 24 (Concat 369 83);
  Node 371 24 (Ite 368 370 263);
  Node 372 8 (Extract 16 371);
  Node 373 1 (Eq 13 372);
  Node 374 16 (Extract 0 371);
  Node 375 24 (Concat 374 13);
  Node 376 24 (Ite 373 375 371);
  Node 377 4 (Extract 20 376);
  Node 378 1 (Eq 94 377);
  Node 379 20 (Extract 0 376);
  Node 380 24 (Concat 379 94);
  Node 381 24 (Ite 378 380 376);
  Node 382 2 (Extract 22 381);
  Node 383 1 (Eq 100 382);
  Node 384 22 (Extract 0 381);
  Node 385 24 (Concat 384 100);
  Node 386 24 (Ite 383 385 381);
  Node 387 1 (Extract 23 386);
  Node 388 1 (Eq 25 387);
  Node 389 23 (Extract 0 386);
  Node 390 24 (Concat 389 25);
  Node 391 24 (Ite 388 390 386);
  Node 392 2 (Concat 368 373);
  Node 393 3 (Concat 392 378);
  Node 394 4 (Concat 393 383);
  Node 395 5 (Concat 394 388);
  Node 396 9 (Zext 274);
  Node 397 9 (Const 31);
  Node 398 9 (Add 396 397);
  Node 399 9 (Zext 395);
  Node 400 9 (Sub 398 399);
  Node 401 9 (Ite 287 398 400);
  Node 402 8 (Zext 366);
  Node 403 8 (Add 128 402);
  Node 404 8 (Ite 323 13 403);
  Node 405 9 (Ite 287 272 401);
  Node 406 9 (Zext 404);
  Node 407 1 (Ult 406 405);
  Node 408 9 (Ite 407 405 406);
  Node 409 9 (Sub 408 406);
  Node 410 27 (Concat 356 34);
  Node 411 27 (Lshr 410 409);
  Node 412 27 (Shl 411 409);
  Node 413 1 (Eq 410 412);
  Node 414 1 (Not 413);
  Node 415 27 (Zext 414);
  Node 416 27 (Or 411 415);
  Node 417 9 (Sub 408 405);
  Node 418 27 (Concat 391 141);
  Node 419 27 (Lshr 418 417);
  Node 420 27 (Shl 419 417);
  Node 421 1 (Eq 418 420);
  Node 422 1 (Not 421);
  Node 423 27 (Zext 422);
  Node 424 27 (Or 419 423);
  Node 425 28 (Zext 416);
  Node 426 28 (Neg 425);
  Node 427 28 (Ite 318 426 425);
  Node 428 28 (Zext 424);
  Node 429 28 (Neg 428);
  Node 430 28 (Ite 284 429 428);
  Node 431 29 (Sext 427);
  Node 432 29 (Sext 430);
  Node 433 29 (Add 431 432);
  Node 434 33 (Sext 433);
  Node 440 1 (Extract 32 434);
  Node 441 33 (Neg 434);
  Node 442 33 (Ite 440 441 434);
  Node 443 32 (Extract 0 442);
  Node 444 1 (And 284 318);
  Node 445 1 (Eq 165 434);
  Node 446 1 (Ite 445 444 440);
  Node 447 9 (Const 26);
  Node 448 1 (Ult 408 447);
  Node 449 9 (Sub 447 408);
  Node 450 9 (Ite 448 449 272);
  Node 451 9 (Const 32);
  Node 452 1 (Ult 450 451);
  Node 453 9 (Ite 452 450 451);
  Node 454 6 (Extract 0 453);
  Node 455 32 (Lshr 443 454);
  Node 456 32 (Shl 455 454);
  Node 457 1 (Eq 443 456);
  Node 458 1 (Not 457);
  Node 459 32 (Zext 458);
  Node 460 32 (Or 455 459);
  Node 461 9 (Ite 448 447 408);
  Node 462 9 (Sub 461 447);
  Node 463 4 (Extract 5 462);
  Node 464 1 (Eq 94 463);
  Node 465 1 (Not 464);
  Node 466 5 (Extract 0 462);
  Node 467 5 (Ite 465 44 466);
  Node 468 16 (Extract 16 460);
  Node 469 1 (Eq 83 468);
  Node 470 1 (Extract 4 467);
  Node 471 1 (Not 469);
  Node 472 1 (And 470 471);
  Node 473 1 (And 469 470);
  Node 474 16 (Extract 0 460);
  Node 475 32 (Concat 474 83);
  Node 476 32 (Ite 473 475 460);
  Node 477 8 (Extract 24 476);
  Node 478 1 (Eq 13 477);
  Node 479 1 (Extract 3 467);
  Node 480 1 (Or 472 479);
  Node 481 1 (Not 478);
  Node 482 1 (And 479 481);
  Node 483 1 (Or 472 482);
  Node 484 1 (And 478 480);
  Node 485 24 (Extract 0 476);
  Node 486 32 (Concat 485 13);
  Node 487 32 (Ite 484 486 476);
  Node 488 4 (Extract 28 487);
  Node 489 1 (Eq 94 488);
  Node 490 1 (Extract 2 467);
  Node 491 1 (Or 483 490);
  Node 492 1 (Not 489);
  Node 493 1 (And 490 492);
  Node 494 1 (Or 483 493);
  Node 495 1 (And 489 491);
  Node 496 28 (Extract 0 487);
  Node 497 32 (Concat 496 94);
  Node 498 32 (Ite 495 497 487);
  Node 499 2 (Extract 30 498);
  Node 500 1 (Eq 100 499);
  Node 501 1 (Extract 1 467);
  Node 502 1 (Or 494 501);
  Node 503 1 (Not 500);
  Node 504 1 (And 501 503);
  Node 505 1 (Or 494 504);
  Node 506 1 (And 500 502);
  Node 507 30 (Extract 0 498);
  Node 508 32 (Concat 507 100);
  Node 509 32 (Ite 506 508 498);
  Node 510 1 (Extract 31 509);
  Node 511 1 (Eq 25 510);
  Node 512 1 (Extract 0 467);
  Node 513 1 (Or 505 512);
  Node 517 1 (And 511 513);
  Node 518 31 (Extract 0 509);
  Node 519 32 (Concat 518 25);
  Node 520 32 (Ite 517 519 509);
  Node 521 2 (Concat 473 484);
  Node 522 3 (Concat 521 495);
  Node 523 4 (Concat 522 506);
  Node 524 5 (Concat 523 517);
  Node 525 9 (Zext 524);
  Node 526 9 (Sub 462 525);
  Node 527 24 (Extract 8 520);
  Node 528 1 (Extract 7 520);
  Node 529 7 (Extract 0 520);
  Node 530 1 (Eq 251 529);
  Node 531 1 (Not 530);
  Node 532 1 (Extract 8 520);
  Node 533 1 (Or 531 532);
  Node 534 1 (And 528 533);
  Node 535 25 (Zext 527);
  Node 536 25 (Zext 534);
  Node 537 25 (Add 535 536);
  Node 538 1 (Extract 24 537);
  Node 539 24 (Extract 0 537);
  Node 540 24 (Ite 538 261 539);
  Node 541 1 (Eq 80 540);
  Node 542 10 (Zext 526);
  Node 543 10 (Zext 538);
  Node 544 10 (Add 542 543);
  Node 545 1 (Not 541);
  Node 546 10 (Const 253);
  Node 547 1 (Ult 546 544);
  Node 548 1 (And 545 547);
  Node 549 10 (Ite 541 39 544);
  Node 550 8 (Extract 0 549);
  Node 551 1 (Not 318);
  Node 552 1 (And 331 551);
  Node 553 1 (Not 284);
  Node 554 1 (And 283 553);
  Node 555 1 (Or 552 554);
  Node 556 1 (And 318 331);
  Node 557 1 (And 283 284);
  Node 558 1 (Or 556 557);
  Node 559 1 (Or 279 328);
  Node 560 1 (And 555 558);
  Node 561 1 (Or 559 560);
  Node 562 1 (Or 555 558);
  Node 563 1 (Or 548 562);
  Node 564 1 (Not 561);
  Node 565 1 (And 563 564);
  Node 566 1 (Ite 562 558 446);
  Node 567 1 (Or 561 562);
  Node 568 1 (Not 567);
  Node 569 1 (And 541 568);
  Node 570 5 (Extract 10 6);
  Node 571 1 (Extract 15 6);
  Node 572 1 (Eq 34 570);
  Node 573 1 (Not 572);
  Node 574 10 (Extract 0 6);
  Node 575 11 (Concat 573 574);
  Node 576 1 (Eq 39 574);
  Node 578 1 (And 572 576);
  Node 579 1 (Eq 44 570);
  Node 580 1 (And 576 579);
  Node 581 1 (Not 576);
  Node 582 1 (And 579 581);
  Node 583 5 (Zext 572);
  Node 584 5 (Or 570 583);
  Node 585 5 (Extract 10 7);
  Node 586 1 (Extract 15 7);
  Node 587 1 (Eq 34 585);
  Node 588 1 (Not 587);
  Node 589 10 (Extract 0 7);
  Node 590 11 (Concat 588 589);
  Node 591 1 (Eq 39 589);
  Node 593 1 (And 587 591);
  Node 594 1 (Eq 44 585);
  Node 595 1 (And 591 594);
  Node 596 1 (Not 591);
  Node 597 1 (And 594 596);
  Node 598 5 (Zext 587);
  Node 599 5 (Or 585 598);
  Node 600 1 (Xor 571 586);
  Node 601 22 (Mul 575 590);
  Node 602 6 (Zext 584);
  Node 603 6 (Zext 599);
  Node 604 6 (Add 602 603);
  Node 605 1 (Or 578 593);
  Node 606 1 (And 580 593);
  Node 607 1 (And 578 595);
  Node 608 1 (Or 606 607);
  Node 609 1 (Or 582 597);
  Node 610 1 (Or 608 609);
  Node 611 1 (Or 580 595);
  Node 612 1 (Not 610);
  Node 613 1 (And 611 612);
  Node 614 16 (Extract 6 601);
  Node 615 1 (Eq 83 614);
  Node 616 6 (Extract 0 601);
  Node 617 22 (Concat 616 83);
  Node 618 22 (Ite 615 617 601);
  Node 619 8 (Extract 14 618);
  Node 620 1 (Eq 13 619);
  Node 621 14 (Extract 0 618);
  Node 622 22 (Concat 621 13);
  Node 623 22 (Ite 620 622 618);
  Node 624 4 (Extract 18 623);
  Node 625 1 (Eq 94 624);
  Node 626 18 (Extract 0 623);
  Node 627 22 (Concat 626 94);
  Node 628 22 (Ite 625 627 623);
  Node 629 2 (Extract 20 628);
  Node 630 1 (Eq 100 629);
  Node 631 20 (Extract 0 628);
  Node 632 22 (Concat 631 100);
  Node 633 22 (Ite 630 632 628);
  Node 634 1 (Extract 21 633);
  Node 635 1 (Eq 25 634);
  Node 636 21 (Extract 0 633);
  Node 637 22 (Concat 636 25);
  Node 638 22 (Ite 635 637 633);
  Node 639 2 (Concat 615 620);
  Node 640 3 (Concat 639 625);
  Node 641 4 (Concat 640 630);
  Node 642 5 (Concat 641 635);
  Node 643 7 (Zext 604);
  Node 644 7 (Add 115 643);
  Node 645 7 (Zext 642);
  Node 646 7 (Sub 644 645);
  Node 647 7 (Add 119 643);
  Node 648 7 (Ite 605 647 646);
  Node 649 8 (Zext 648);
  Node 650 8 (Add 128 649);
  Node 651 8 (Ite 605 13 650);
  Node 652 1 (Ult 651 13);
  Node 653 8 (Ite 652 13 651);
  Node 654 8 (Sub 653 651);
  Node 655 27 (Concat 638 34);
  Node 656 27 (Lshr 655 654);
  Node 657 27 (Shl 656 654);
  Node 658 1 (Eq 655 657);
  Node 659 1 (Not 658);
  Node 660 27 (Zext 659);
  Node 661 27 (Or 656 660);
  Node 662 27 (Lshr 142 653);
  Node 663 27 (Shl 662 653);
  Node 664 1 (Eq 142 663);
  Node 665 1 (Not 664);
  Node 666 27 (Zext 665);
  Node 667 27 (Or 662 666);
  Node 668 28 (Zext 661);
  Node 669 28 (Neg 668);
  Node 670 28 (Ite 600 669 668);
  Node 671 28 (Zext 667);
  Node 673 29 (Sext 670);
  Node 674 29 (Sext 671);
  Node 675 29 (Add 673 674);
  Node 676 33 (Sext 675);
  Node 679 1 (Extract 32 676);
  Node 680 33 (Neg 676);
  Node 681 33 (Ite 679 680 676);
  Node 682 32 (Extract 0 681);
  Node 683 1 (Eq 165 676);
  Node 684 1 (Ite 683 25 679);
  Node 685 1 (Ult 653 168);
  Node 686 8 (Sub 168 653);
  Node 687 8 (Ite 685 686 13);
  Node 688 1 (Ult 687 172);
  Node 689 8 (Ite 688 687 172);
  Node 690 6 (Extract 0 689);
  Node 691 32 (Lshr 682 690);
  Node 692 32 (Shl 691 690);
  Node 693 1 (Eq 682 692);
  Node 694 1 (Not 693);
  Node 695 32 (Zext 694);
  Node 696 32 (Or 691 695);
  Node 697 8 (Ite 685 168 653);
  Node 698 8 (Sub 697 168);
  Node 699 3 (Extract 5 698);
  Node 700 1 (Eq 141 699);
  Node 701 1 (Not 700);
  Node 702 5 (Extract 0 698);
  Node 703 5 (Ite 701 44 702);
  Node 704 16 (Extract 16 696);
  Node 705 1 (Eq 83 704);
  Node 706 1 (Extract 4 703);
  Node 707 1 (Not 705);
  Node 708 1 (And 706 707);
  Node 709 1 (And 705 706);
  Node 710 16 (Extract 0 696);
  Node 711 32 (Concat 710 83);
  Node 712 32 (Ite 709 711 696);
  Node 713 8 (Extract 24 712);
  Node 714 1 (Eq 13 713);
  Node 715 1 (Extract 3 703);
  Node 716 1 (Or 708 715);
  Node 717 1 (Not 714);
  Node 718 1 (And 715 717);
  Node 719 1 (Or 708 718);
  Node 720 1 (And 714 716);
  Node 721 24 (Extract 0 712);
  Node 722 32 (Concat 721 13);
  Node 723 32 (Ite 720 722 712);
  Node 724 4 (Extract 28 723);
  Node 725 1 (Eq 94 724);
  Node 726 1 (Extract 2 703);
  Node 727 1 (Or 719 726);
  Node 728 1 (Not 725);
  Node 729 1 (And 726 728);
  Node 730 1 (Or 719 729);
  Node 731 1 (And 725 727);
  Node 732 28 (Extract 0 723);
  Node 733 32 (Concat 732 94);
  Node 734 32 (Ite 731 733 723);
  Node 735 2 (Extract 30 734);
  Node 736 1 (Eq 100 735);
  Node 737 1 (Extract 1 703);
  Node 738 1 (Or 730 737);
  Node 739 1 (Not 736);
  Node 740 1 (And 737 739);
  Node 741 1 (Or 730 740);
  Node 742 1 (And 736 738);
  Node 743 30 (Extract 0 734);
  Node 744 32 (Concat 743 100);
  Node 745 32 (Ite 742 744 734);
  Node 746 1 (Extract 31 745);
  Node 747 1 (Eq 25 746);
  Node 748 1 (Extract 0 703);
  Node 749 1 (Or 741 748);
  Node 753 1 (And 747 749);
  Node 754 31 (Extract 0 745);
  Node 755 32 (Concat 754 25);
  Node 756 32 (Ite 753 755 745);
  Node 757 2 (Concat 709 720);
  Node 758 3 (Concat 757 731);
  Node 759 4 (Concat 758 742);
  Node 760 5 (Concat 759 753);
  Node 761 8 (Zext 760);
  Node 762 8 (Sub 698 761);
  Node 763 24 (Extract 8 756);
  Node 764 1 (Extract 7 756);
  Node 765 7 (Extract 0 756);
  Node 766 1 (Eq 251 765);
  Node 767 1 (Not 766);
  Node 768 1 (Extract 8 756);
  Node 769 1 (Or 767 768);
  Node 770 1 (And 764 769);
  Node 771 25 (Zext 763);
  Node 772 25 (Zext 770);
  Node 773 25 (Add 771 772);
  Node 774 1 (Extract 24 773);
  Node 775 24 (Extract 0 773);
  Node 776 24 (Ite 774 261 775);
  Node 777 1 (Eq 80 776);
  Node 778 9 (Zext 762);
  Node 779 9 (Zext 774);
  Node 780 9 (Add 778 779);
  Node 781 1 (Not 777);
  Node 782 1 (Ult 269 780);
  Node 783 1 (And 781 782);
  Node 784 9 (Ite 777 272 780);
  Node 785 8 (Extract 0 784);
  Node 786 1 (Not 600);
  Node 787 1 (And 613 786);
  Node 788 1 (And 600 613);
  Node 789 1 (And 787 788);
  Node 790 1 (Or 610 789);
  Node 791 1 (Or 787 788);
  Node 792 1 (Or 783 791);
  Node 793 1 (Not 790);
  Node 794 1 (And 792 793);
  Node 795 1 (Ite 791 788 684);
  Node 796 1 (Or 790 791);
  Node 797 1 (Not 796);
  Node 798 1 (And 777 797);
  Node 799 5 (Extract 10 8);
  Node 800 1 (Extract 15 8);
  Node 801 1 (Eq 34 799);
  Node 802 1 (Not 801);
  Node 803 10 (Extract 0 8);
  Node 804 11 (Concat 802 803);
  Node 805 1 (Eq 39 803);
  Node 807 1 (And 801 805);
  Node 808 1 (Eq 44 799);
  Node 809 1 (And 805 808);
  Node 810 1 (Not 805);
  Node 811 1 (And 808 810);
  Node 812 5 (Zext 801);
  Node 813 5 (Or 799 812);
  Node 814 5 (Extract 10 9);
  Node 815 1 (Extract 15 9);
  Node 816 1 (Eq 34 814);
  Node 817 1 (Not 816);
  Node 818 10 (Extract 0 9);
  Node 819 11 (Concat 817 818);
  Node 820 1 (Eq 39 818);
  Node 822 1 (And 816 820);
  Node 823 1 (Eq 44 814);
  Node 824 1 (And 820 823);
  Node 825 1 (Not 820);
  Node 826 1 (And 823 825);
  Node 827 5 (Zext 816);
  Node 828 5 (Or 814 827);
  Node 829 1 (Xor 800 815);
  Node 830 22 (Mul 804 819);
  Node 831 6 (Zext 813);
  Node 832 6 (Zext 828);
  Node 833 6 (Add 831 832);
  Node 834 1 (Or 807 822);
  Node 835 1 (And 809 822);
  Node 836 1 (And 807 824);
  Node 837 1 (Or 835 836);
  Node 838 1 (Or 811 826);
  Node 839 1 (Or 837 838);
  Node 840 1 (Or 809 824);
  Node 841 1 (Not 839);
  Node 842 1 (And 840 841);
  Node 843 16 (Extract 6 830);
  Node 844 1 (Eq 83 843);
  Node 845 6 (Extract 0 830);
  Node 846 22 (Concat 845 83);
  Node 847 22 (Ite 844 846 830);
  Node 848 8 (Extract 14 847);
  Node 849 1 (Eq 13 848);
  Node 850 14 (Extract 0 847);
  Node 851 22 (Concat 850 13);
  Node 852 22 (Ite 849 851 847);
  Node 853 4 (Extract 18 852);
  Node 854 1 (Eq 94 853);
  Node 855 18 (Extract 0 852);
  Node 856 22 (Concat 855 94);
  Node 857 22 (Ite 854 856 852);
  Node 858 2 (Extract 20 857);
  Node 859 1 (Eq 100 858);
  Node 860 20 (Extract 0 857);
  Node 861 22 (Concat 860 100);
  Node 862 22 (Ite 859 861 857);
  Node 863 1 (Extract 21 862);
  Node 864 1 (Eq 25 863);
  Node 865 21 (Extract 0 862);
  Node 866 22 (Concat 865 25);
  Node 867 22 (Ite 864 866 862);
  Node 868 2 (Concat 844 849);
  Node 869 3 (Concat 868 854);
  Node 870 4 (Concat 869 859);
  Node 871 5 (Concat 870 864);
  Node 872 7 (Zext 833);
  Node 873 7 (Add 115 872);
  Node 874 7 (Zext 871);
  Node 875 7 (Sub 873 874);
  Node 876 7 (Add 119 872);
  Node 877 7 (Ite 834 876 875);
  Node 878 16 (Extract 8 776);
  Node 879 1 (Eq 83 878);
  Node 880 8 (Extract 0 776);
  Node 881 24 (Concat 880 83);
  Node 882 24 (Ite 879 881 776);
  Node 883 8 (Extract 16 882);
  Node 884 1 (Eq 13 883);
  Node 885 16 (Extract 0 882);
  Node 886 24 (Concat 885 13);
  Node 887 24 (Ite 884 886 882);
  Node 888 4 (Extract 20 887);
  Node 889 1 (Eq 94 888);
  Node 890 20 (Extract 0 887);
  Node 891 24 (Concat 890 94);
  Node 892 24 (Ite 889 891 887);
  Node 893 2 (Extract 22 892);
  Node 894 1 (Eq 100 893);
  Node 895 22 (Extract 0 892);
  Node 896 24 (Concat 895 100);
  Node 897 24 (Ite 894 896 892);
  Node 898 1 (Extract 23 897);
  Node 899 1 (Eq 25 898);
  Node 900 23 (Extract 0 897);
  Node 901 24 (Concat 900 25);
  Node 902 24 (Ite 899 901 897);
  Node 903 2 (Concat 879 884);
  Node 904 3 (Concat 903 889);
  Node 905 4 (Concat 904 894);
  Node 906 5 (Concat 905 899);
  Node 907 9 (Zext 785);
  Node 908 9 (Add 397 907);
  Node 909 9 (Zext 906);
  Node 910 9 (Sub 908 909);
  Node 911 9 (Ite 798 908 910);
  Node 912 8 (Zext 877);
  Node 913 8 (Add 128 912);
  Node 914 8 (Ite 834 13 913);
  Node 915 9 (Ite 798 272 911);
  Node 916 9 (Zext 914);
  Node 917 1 (Ult 916 915);
  Node 918 9 (Ite 917 915 916);
  Node 919 9 (Sub 918 916);
  Node 920 27 (Concat 867 34);
  Node 921 27 (Lshr 920 919);
  Node 922 27 (Shl 921 919);
  Node 923 1 (Eq 920 922);
  Node 924 1 (Not 923);
  Node 925 27 (Zext 924);
  Node 926 27 (Or 921 925);
  Node 927 9 (Sub 918 915);
  Node 928 27 (Concat 902 141);
  Node 929 27 (Lshr 928 927);
  Node 930 27 (Shl 929 927);
  Node 931 1 (Eq 928 930);
  Node 932 1 (Not 931);
  Node 933 27 (Zext 932);
  Node 934 27 (Or 929 933);
  Node 935 28 (Zext 926);
  Node 936 28 (Neg 935);
  Node 937 28 (Ite 829 936 935);
  Node 938 28 (Zext 934);
  Node 939 28 (Neg 938);
  Node 940 28 (Ite 795 939 938);
  Node 941 29 (Sext 937);
  Node 942 29 (Sext 940);
  Node 943 29 (Add 941 942);
  Node 944 33 (Sext 943);
  Node 949 1 (Extract 32 944);
  Node 950 33 (Neg 944);
  Node 951 33 (Ite 949 950 944);
  Node 952 32 (Extract 0 951);
  Node 953 1 (And 795 829);
  Node 954 1 (Eq 165 944);
  Node 955 1 (Ite 954 953 949);
  Node 956 1 (Ult 918 447);
  Node 957 9 (Sub 447 918);
  Node 958 9 (Ite 956 957 272);
  Node 959 1 (Ult 958 451);
  Node 960 9 (Ite 959 958 451);
  Node 961 6 (Extract 0 960);
  Node 962 32 (Lshr 952 961);
  Node 963 32 (Shl 962 961);
  Node 964 1 (Eq 952 963);
  Node 965 1 (Not 964);
  Node 966 32 (Zext 965);
  Node 967 32 (Or 962 966);
  Node 968 9 (Ite 956 447 918);
  Node 969 9 (Sub 968 447);
  Node 970 4 (Extract 5 969);
  Node 971 1 (Eq 94 970);
  Node 972 1 (Not 971);
  Node 973 5 (Extract 0 969);
  Node 974 5 (Ite 972 44 973);
  Node 975 16 (Extract 16 967);
  Node 976 1 (Eq 83 975);
  Node 977 1 (Extract 4 974);
  Node 978 1 (Not 976);
  Node 979 1 (And 977 978);
  Node 980 1 (And 976 977);
  Node 981 16 (Extract 0 967);
  Node 982 32 (Concat 981 83);
  Node 983 32 (Ite 980 982 967);
  Node 984 8 (Extract 24 983);
  Node 985 1 (Eq 13 984);
  Node 986 1 (Extract 3 974);
  Node 987 1 (Or 979 986);
  Node 988 1 (Not 985);
  Node 989 1 (And 986 988);
  Node 990 1 (Or 979 989);
  Node 991 1 (And 985 987);
  Node 992 24 (Extract 0 983);
  Node 993 32 (Concat 992 13);
  Node 994 32 (Ite 991 993 983);
  Node 995 4 (Extract 28 994);
  Node 996 1 (Eq 94 995);
  Node 997 1 (Extract 2 974);
  Node 998 1 (Or 990 997);
  Node 999 1 (Not 996);
  Node 1000 1 (And 997 999);
  Node 1001 1 (Or 990 1000);
  Node 1002 1 (And 996 998);
  Node 1003 28 (Extract 0 994);
  Node 1004 32 (Concat 1003 94);
  Node 1005 32 (Ite 1002 1004 994);
  Node 1006 2 (Extract 30 1005);
  Node 1007 1 (Eq 100 1006);
  Node 1008 1 (Extract 1 974);
  Node 1009 1 (Or 1001 1008);
  Node 1010 1 (Not 1007);
  Node 1011 1 (And 1008 1010);
  Node 1012 1 (Or 1001 1011);
  Node 1013 1 (And 1007 1009);
  Node 1014 30 (Extract 0 1005);
  Node 1015 32 (Concat 1014 100);
  Node 1016 32 (Ite 1013 1015 1005);
  Node 1017 1 (Extract 31 1016);
  Node 1018 1 (Eq 25 1017);
  Node 1019 1 (Extract 0 974);
  Node 1020 1 (Or 1012 1019);
  Node 1024 1 (And 1018 1020);
  Node 1025 31 (Extract 0 1016);
  Node 1026 32 (Concat 1025 25);
  Node 1027 32 (Ite 1024 1026 1016);
  Node 1028 2 (Concat 980 991);
  Node 1029 3 (Concat 1028 1002);
  Node 1030 4 (Concat 1029 1013);
  Node 1031 5 (Concat 1030 1024);
  Node 1032 9 (Zext 1031);
  Node 1033 9 (Sub 969 1032);
  Node 1034 24 (Extract 8 1027);
  Node 1035 1 (Extract 7 1027);
  Node 1036 7 (Extract 0 1027);
  Node 1037 1 (Eq 251 1036);
  Node 1038 1 (Not 1037);
  Node 1039 1 (Extract 8 1027);
  Node 1040 1 (Or 1038 1039);
  Node 1041 1 (And 1035 1040);
  Node 1042 25 (Zext 1034);
  Node 1043 25 (Zext 1041);
  Node 1044 25 (Add 1042 1043);
  Node 1045 1 (Extract 24 1044);
  Node 1046 24 (Extract 0 1044);
  Node 1047 24 (Ite 1045 261 1046);
  Node 1048 1 (Eq 80 1047);
  Node 1049 10 (Zext 1033);
  Node 1050 10 (Zext 1045);
  Node 1051 10 (Add 1049 1050);
  Node 1052 1 (Not 1048);
  Node 1053 1 (Ult 546 1051);
  Node 1054 1 (And 1052 1053);
  Node 1055 10 (Ite 1048 39 1051);
  Node 1056 8 (Extract 0 1055);
  Node 1057 1 (Not 829);
  Node 1058 1 (And 842 1057);
  Node 1059 1 (Not 795);
  Node 1060 1 (And 794 1059);
  Node 1061 1 (Or 1058 1060);
  Node 1062 1 (And 829 842);
  Node 1063 1 (And 794 795);
  Node 1064 1 (Or 1062 1063);
  Node 1065 1 (Or 790 839);
  Node 1066 1 (And 1061 1064);
  Node 1067 1 (Or 1065 1066);
  Node 1068 1 (Or 1061 1064);
  Node 1069 1 (Or 1054 1068);
  Node 1070 1 (Not 1067);
  Node 1071 1 (And 1069 1070);
  Node 1072 1 (Ite 1068 1064 955);
  Node 1073 1 (Or 1067 1068);
  Node 1074 1 (Not 1073);
  Node 1075 1 (And 1048 1074);
  Node 1076 16 (Extract 8 540);
  Node 1077 1 (Eq 83 1076);
  Node 1078 8 (Extract 0 540);
  Node 1079 24 (Concat 1078 83);
  Node 1080 24 (Ite 1077 1079 540);
  Node 1081 8 (Extract 16 1080);
  Node 1082 1 (Eq 13 1081);
  Node 1083 16 (Extract 0 1080);
  Node 1084 24 (Concat 1083 13);
  Node 1085 24 (Ite 1082 1084 1080);
  Node 1086 4 (Extract 20 1085);
  Node 1087 1 (Eq 94 1086);
  Node 1088 20 (Extract 0 1085);
  Node 1089 24 (Concat 1088 94);
  Node 1090 24 (Ite 1087 1089 1085);
  Node 1091 2 (Extract 22 1090);
  Node 1092 1 (Eq 100 1091);
  Node 1093 22 (Extract 0 1090);
  Node 1094 24 (Concat 1093 100);
  Node 1095 24 (Ite 1092 1094 1090);
  Node 1096 1 (Extract 23 1095);
  Node 1097 1 (Eq 25 1096);
  Node 1098 23 (Extract 0 1095);
  Node 1099 24 (Concat 1098 25);
  Node 1100 24 (Ite 1097 1099 1095);
  Node 1101 2 (Concat 1077 1082);
  Node 1102 3 (Concat 1101 1087);
  Node 1103 4 (Concat 1102 1092);
  Node 1104 5 (Concat 1103 1097);
  Node 1105 9 (Zext 550);
  Node 1106 9 (Add 397 1105);
  Node 1107 9 (Zext 1104);
  Node 1108 9 (Sub 1106 1107);
  Node 1109 9 (Ite 569 1106 1108);
  Node 1110 16 (Extract 8 1047);
  Node 1111 1 (Eq 83 1110);
  Node 1112 8 (Extract 0 1047);
  Node 1113 24 (Concat 1112 83);
  Node 1114 24 (Ite 1111 1113 1047);
  Node 1115 8 (Extract 16 1114);
  Node 1116 1 (Eq 13 1115);
  Node 1117 16 (Extract 0 1114);
  Node 1118 24 (Concat 1117 13);
  Node 1119 24 (Ite 1116 1118 1114);
  Node 1120 4 (Extract 20 1119);
  Node 1121 1 (Eq 94 1120);
  Node 1122 20 (Extract 0 1119);
  Node 1123 24 (Concat 1122 94);
  Node 1124 24 (Ite 1121 1123 1119);
  Node 1125 2 (Extract 22 1124);
  Node 1126 1 (Eq 100 1125);
  Node 1127 22 (Extract 0 1124);
  Node 1128 24 (Concat 1127 100);
  Node 1129 24 (Ite 1126 1128 1124);
  Node 1130 1 (Extract 23 1129);
  Node 1131 1 (Eq 25 1130);
  Node 1132 23 (Extract 0 1129);
  Node 1133 24 (Concat 1132 25);
  Node 1134 24 (Ite 1131 1133 1129);
  Node 1135 2 (Concat 1111 1116);
  Node 1136 3 (Concat 1135 1121);
  Node 1137 4 (Concat 1136 1126);
  Node 1138 5 (Concat 1137 1131);
  Node 1139 9 (Zext 1056);
  Node 1140 9 (Add 397 1139);
  Node 1141 9 (Zext 1138);
  Node 1142 9 (Sub 1140 1141);
  Node 1143 9 (Ite 1075 1140 1142);
  Node 1144 9 (Ite 569 272 1109);
  Node 1145 9 (Ite 1075 272 1143);
  Node 1146 1 (Ult 1144 1145);
  Node 1147 9 (Ite 1146 1145 1144);
  Node 1148 9 (Sub 1147 1144);
  Node 1149 27 (Concat 1100 141);
  Node 1150 27 (Lshr 1149 1148);
  Node 1151 27 (Shl 1150 1148);
  Node 1152 1 (Eq 1149 1151);
  Node 1153 1 (Not 1152);
  Node 1154 27 (Zext 1153);
  Node 1155 27 (Or 1150 1154);
  Node 1156 9 (Sub 1147 1145);
  Node 1157 27 (Concat 1134 141);
  Node 1158 27 (Lshr 1157 1156);
  Node 1159 27 (Shl 1158 1156);
  Node 1160 1 (Eq 1157 1159);
  Node 1161 1 (Not 1160);
  Node 1162 27 (Zext 1161);
  Node 1163 27 (Or 1158 1162);
  Node 1164 28 (Zext 1155);
  Node 1165 28 (Neg 1164);
  Node 1166 28 (Ite 566 1165 1164);
  Node 1167 28 (Zext 1163);
  Node 1168 28 (Neg 1167);
  Node 1169 28 (Ite 1072 1168 1167);
  Node 1170 29 (Sext 1166);
  Node 1171 29 (Sext 1169);
  Node 1172 29 (Add 1170 1171);
  Node 1173 33 (Sext 1172);
  Node 1176 1 (Extract 32 1173);
  Node 1177 33 (Neg 1173);
  Node 1178 33 (Ite 1176 1177 1173);
  Node 1179 32 (Extract 0 1178);
  Node 1180 1 (And 566 1072);
  Node 1181 1 (Eq 165 1173);
  Node 1182 1 (Ite 1181 1180 1176);
  Node 1183 1 (Ult 1147 447);
  Node 1184 9 (Sub 447 1147);
  Node 1185 9 (Ite 1183 1184 272);
  Node 1186 1 (Ult 1185 451);
  Node 1187 9 (Ite 1186 1185 451);
  Node 1188 6 (Extract 0 1187);
  Node 1189 32 (Lshr 1179 1188);
  Node 1190 32 (Shl 1189 1188);
  Node 1191 1 (Eq 1179 1190);
  Node 1192 1 (Not 1191);
  Node 1193 32 (Zext 1192);
  Node 1194 32 (Or 1189 1193);
  Node 1195 9 (Ite 1183 447 1147);
  Node 1196 9 (Sub 1195 447);
  Node 1197 4 (Extract 5 1196);
  Node 1198 1 (Eq 94 1197);
  Node 1199 1 (Not 1198);
  Node 1200 5 (Extract 0 1196);
  Node 1201 5 (Ite 1199 44 1200);
  Node 1202 16 (Extract 16 1194);
  Node 1203 1 (Eq 83 1202);
  Node 1204 1 (Extract 4 1201);
  Node 1205 1 (Not 1203);
  Node 1206 1 (And 1204 1205);
  Node 1207 1 (And 1203 1204);
  Node 1208 16 (Extract 0 1194);
  Node 1209 32 (Concat 1208 83);
  Node 1210 32 (Ite 1207 1209 1194);
  Node 1211 8 (Extract 24 1210);
  Node 1212 1 (Eq 13 1211);
  Node 1213 1 (Extract 3 1201);
  Node 1214 1 (Or 1206 1213);
  Node 1215 1 (Not 1212);
  Node 1216 1 (And 1213 1215);
  Node 1217 1 (Or 1206 1216);
  Node 1218 1 (And 1212 1214);
  Node 1219 24 (Extract 0 1210);
  Node 1220 32 (Concat 1219 13);
  Node 1221 32 (Ite 1218 1220 1210);
  Node 1222 4 (Extract 28 1221);
  Node 1223 1 (Eq 94 1222);
  Node 1224 1 (Extract 2 1201);
  Node 1225 1 (Or 1217 1224);
  Node 1226 1 (Not 1223);
  Node 1227 1 (And 1224 1226);
  Node 1228 1 (Or 1217 1227);
  Node 1229 1 (And 1223 1225);
  Node 1230 28 (Extract 0 1221);
  Node 1231 32 (Concat 1230 94);
  Node 1232 32 (Ite 1229 1231 1221);
  Node 1233 2 (Extract 30 1232);
  Node 1234 1 (Eq 100 1233);
  Node 1235 1 (Extract 1 1201);
  Node 1236 1 (Or 1228 1235);
  Node 1237 1 (Not 1234);
  Node 1238 1 (And 1235 1237);
  Node 1239 1 (Or 1228 1238);
  Node 1240 1 (And 1234 1236);
  Node 1241 30 (Extract 0 1232);
  Node 1242 32 (Concat 1241 100);
  Node 1243 32 (Ite 1240 1242 1232);
  Node 1244 1 (Extract 31 1243);
  Node 1245 1 (Eq 25 1244);
  Node 1246 1 (Extract 0 1201);
  Node 1247 1 (Or 1239 1246);
  Node 1251 1 (And 1245 1247);
  Node 1252 31 (Extract 0 1243);
  Node 1253 32 (Concat 1252 25);
  Node 1254 32 (Ite 1251 1253 1243);
  Node 1255 2 (Concat 1207 1218);
  Node 1256 3 (Concat 1255 1229);
  Node 1257 4 (Concat 1256 1240);
  Node 1258 5 (Concat 1257 1251);
  Node 1259 9 (Zext 1258);
  Node 1260 9 (Sub 1196 1259);
  Node 1261 24 (Extract 8 1254);
  Node 1262 1 (Extract 7 1254);
  Node 1263 7 (Extract 0 1254);
  Node 1264 1 (Eq 251 1263);
  Node 1265 1 (Not 1264);
  Node 1266 1 (Extract 8 1254);
  Node 1267 1 (Or 1265 1266);
  Node 1268 1 (And 1262 1267);
  Node 1269 25 (Zext 1261);
  Node 1270 25 (Zext 1268);
  Node 1271 25 (Add 1269 1270);
  Node 1272 1 (Extract 24 1271);
  Node 1273 24 (Extract 0 1271);
  Node 1274 24 (Ite 1272 261 1273);
  Node 1275 1 (Eq 80 1274);
  Node 1276 10 (Zext 1260);
  Node 1277 10 (Zext 1272);
  Node 1278 10 (Add 1276 1277);
  Node 1279 1 (Not 1275);
  Node 1280 1 (Ult 546 1278);
  Node 1281 1 (And 1279 1280);
  Node 1282 10 (Ite 1275 39 1278);
  Node 1283 8 (Extract 0 1282);
  Node 1284 1 (Not 566);
  Node 1285 1 (And 565 1284);
  Node 1286 1 (Not 1072);
  Node 1287 1 (And 1071 1286);
  Node 1288 1 (Or 1285 1287);
  Node 1289 1 (And 565 566);
  Node 1290 1 (And 1071 1072);
  Node 1291 1 (Or 1289 1290);
  Node 1292 1 (Or 561 1067);
  Node 1293 1 (And 1288 1291);
  Node 1294 1 (Or 1292 1293);
  Node 1295 1 (Or 1288 1291);
  Node 1296 1 (Or 1281 1295);
  Node 1297 1 (Not 1294);
  Node 1298 1 (And 1296 1297);
  Node 1299 1 (Ite 1295 1291 1182);
  Node 1300 1 (Or 1294 1295);
  Node 1301 1 (Not 1300);
  Node 1302 1 (And 1275 1301);
  Node 1303 16 (Extract 8 1274);
  Node 1304 1 (Eq 83 1303);
  Node 1305 8 (Extract 0 1274);
  Node 1306 24 (Concat 1305 83);
  Node 1307 24 (Ite 1304 1306 1274);
  Node 1308 8 (Extract 16 1307);
  Node 1309 1 (Eq 13 1308);
  Node 1310 16 (Extract 0 1307);
  Node 1311 24 (Concat 1310 13);
  Node 1312 24 (Ite 1309 1311 1307);
  Node 1313 4 (Extract 20 1312);
  Node 1314 1 (Eq 94 1313);
  Node 1315 20 (Extract 0 1312);
  Node 1316 24 (Concat 1315 94);
  Node 1317 24 (Ite 1314 1316 1312);
  Node 1318 2 (Extract 22 1317);
  Node 1319 1 (Eq 100 1318);
  Node 1320 22 (Extract 0 1317);
  Node 1321 24 (Concat 1320 100);
  Node 1322 24 (Ite 1319 1321 1317);
  Node 1323 1 (Extract 23 1322);
  Node 1324 1 (Eq 25 1323);
  Node 1325 23 (Extract 0 1322);
  Node 1326 24 (Concat 1325 25);
  Node 1327 24 (Ite 1324 1326 1322);
  Node 1328 2 (Concat 1304 1309);
  Node 1329 3 (Concat 1328 1314);
  Node 1330 4 (Concat 1329 1319);
  Node 1331 5 (Concat 1330 1324);
  Node 1332 9 (Zext 1283);
  Node 1333 9 (Add 397 1332);
  Node 1334 9 (Zext 1331);
  Node 1335 9 (Sub 1333 1334);
  Node 1336 9 (Ite 1302 1333 1335);
  Node 1337 16 (Extract 8 17);
  Node 1338 1 (Eq 83 1337);
  Node 1339 8 (Extract 0 10);
  Node 1340 24 (Concat 1339 83);
  Node 1341 24 (Ite 1338 1340 17);
  Node 1342 8 (Extract 16 1341);
  Node 1343 1 (Eq 13 1342);
  Node 1344 16 (Extract 0 1341);
  Node 1345 24 (Concat 1344 13);
  Node 1346 24 (Ite 1343 1345 1341);
  Node 1347 4 (Extract 20 1346);
  Node 1348 1 (Eq 94 1347);
  Node 1349 20 (Extract 0 1346);
  Node 1350 24 (Concat 1349 94);
  Node 1351 24 (Ite 1348 1350 1346);
  Node 1352 2 (Extract 22 1351);
  Node 1353 1 (Eq 100 1352);
  Node 1354 22 (Extract 0 1351);
  Node 1355 24 (Concat 1354 100);
  Node 1356 24 (Ite 1353 1355 1351);
  Node 1357 1 (Extract 23 1356);
  Node 1358 1 (Eq 25 1357);
  Node 1359 23 (Extract 0 1356);
  Node 1360 24 (Concat 1359 25);
  Node 1361 24 (Ite 1358 1360 1356);
  Node 1362 2 (Concat 1338 1343);
  Node 1363 3 (Concat 1362 1348);
  Node 1364 4 (Concat 1363 1353);
  Node 1365 5 (Concat 1364 1358);
  Node 1366 9 (Zext 30);
  Node 1367 9 (Add 397 1366);
  Node 1368 9 (Zext 1365);
  Node 1369 9 (Sub 1367 1368);
  Node 1370 9 (Ite 22 1367 1369);
  Node 1371 9 (Const 1);
  Node 1372 9 (Add 1336 1371);
  Node 1373 9 (Ite 1302 272 1372);
  Node 1374 9 (Ite 22 272 1370);
  Node 1375 1 (Ult 1373 1374);
  Node 1376 9 (Ite 1375 1374 1373);
  Node 1377 9 (Sub 1376 1373);
  Node 1378 27 (Concat 1327 141);
  Node 1379 27 (Lshr 1378 1377);
  Node 1380 27 (Shl 1379 1377);
  Node 1381 1 (Eq 1378 1380);
  Node 1382 1 (Not 1381);
  Node 1383 27 (Zext 1382);
  Node 1384 27 (Or 1379 1383);
  Node 1385 9 (Sub 1376 1374);
  Node 1386 27 (Concat 1361 141);
  Node 1387 27 (Lshr 1386 1385);
  Node 1388 27 (Shl 1387 1385);
  Node 1389 1 (Eq 1386 1388);
  Node 1390 1 (Not 1389);
  Node 1391 27 (Zext 1390);
  Node 1392 27 (Or 1387 1391);
  Node 1393 28 (Zext 1384);
  Node 1394 28 (Neg 1393);
  Node 1395 28 (Ite 1299 1394 1393);
  Node 1396 28 (Zext 1392);
  Node 1397 28 (Neg 1396);
  Node 1398 28 (Ite 12 1397 1396);
  Node 1399 29 (Sext 1395);
  Node 1400 29 (Sext 1398);
  Node 1401 29 (Add 1399 1400);
  Node 1402 33 (Sext 1401);
  Node 1405 1 (Extract 32 1402);
  Node 1406 33 (Neg 1402);
  Node 1407 33 (Ite 1405 1406 1402);
  Node 1408 32 (Extract 0 1407);
  Node 1409 1 (And 12 1299);
  Node 1410 1 (Eq 165 1402);
  Node 1411 1 (Ite 1410 1409 1405);
  Node 1412 9 (Const 27);
  Node 1413 1 (Ult 1376 1412);
  Node 1414 9 (Sub 1412 1376);
  Node 1415 9 (Ite 1413 1414 272);
  Node 1416 1 (Ult 1415 451);
  Node 1417 9 (Ite 1416 1415 451);
  Node 1418 6 (Extract 0 1417);
  Node 1419 32 (Lshr 1408 1418);
  Node 1420 32 (Shl 1419 1418);
  Node 1421 1 (Eq 1408 1420);
  Node 1422 1 (Not 1421);
  Node 1423 32 (Zext 1422);
  Node 1424 32 (Or 1419 1423);
  Node 1425 9 (Ite 1413 1412 1376);
  Node 1426 9 (Sub 1425 1412);
  Node 1427 4 (Extract 5 1426);
  Node 1428 1 (Eq 94 1427);
  Node 1429 1 (Not 1428);
  Node 1430 5 (Extract 0 1426);
  Node 1431 5 (Ite 1429 44 1430);
  Node 1432 16 (Extract 16 1424);
  Node 1433 1 (Eq 83 1432);
  Node 1434 1 (Extract 4 1431);
  Node 1435 1 (Not 1433);
  Node 1436 1 (And 1434 1435);
  Node 1437 1 (And 1433 1434);
  Node 1438 16 (Extract 0 1424);
  Node 1439 32 (Concat 1438 83);
  Node 1440 32 (Ite 1437 1439 1424);
  Node 1441 8 (Extract 24 1440);
  Node 1442 1 (Eq 13 1441);
  Node 1443 1 (Extract 3 1431);
  Node 1444 1 (Or 1436 1443);
  Node 1445 1 (Not 1442);
  Node 1446 1 (And 1443 1445);
  Node 1447 1 (Or 1436 1446);
  Node 1448 1 (And 1442 1444);
  Node 1449 24 (Extract 0 1440);
  Node 1450 32 (Concat 1449 13);
  Node 1451 32 (Ite 1448 1450 1440);
  Node 1452 4 (Extract 28 1451);
  Node 1453 1 (Eq 94 1452);
  Node 1454 1 (Extract 2 1431);
  Node 1455 1 (Or 1447 1454);
  Node 1456 1 (Not 1453);
  Node 1457 1 (And 1454 1456);
  Node 1458 1 (Or 1447 1457);
  Node 1459 1 (And 1453 1455);
  Node 1460 28 (Extract 0 1451);
  Node 1461 32 (Concat 1460 94);
  Node 1462 32 (Ite 1459 1461 1451);
  Node 1463 2 (Extract 30 1462);
  Node 1464 1 (Eq 100 1463);
  Node 1465 1 (Extract 1 1431);
  Node 1466 1 (Or 1458 1465);
  Node 1467 1 (Not 1464);
  Node 1468 1 (And 1465 1467);
  Node 1469 1 (Or 1458 1468);
  Node 1470 1 (And 1464 1466);
  Node 1471 30 (Extract 0 1462);
  Node 1472 32 (Concat 1471 100);
  Node 1473 32 (Ite 1470 1472 1462);
  Node 1474 1 (Extract 31 1473);
  Node 1475 1 (Eq 25 1474);
  Node 1476 1 (Extract 0 1431);
  Node 1477 1 (Or 1469 1476);
  Node 1481 1 (And 1475 1477);
  Node 1482 31 (Extract 0 1473);
  Node 1483 32 (Concat 1482 25);
  Node 1484 32 (Ite 1481 1483 1473);
  Node 1485 2 (Concat 1437 1448);
  Node 1486 3 (Concat 1485 1459);
  Node 1487 4 (Concat 1486 1470);
  Node 1488 5 (Concat 1487 1481);
  Node 1489 9 (Zext 1488);
  Node 1490 9 (Sub 1426 1489);
  Node 1491 24 (Extract 8 1484);
  Node 1492 1 (Extract 7 1484);
  Node 1493 7 (Extract 0 1484);
  Node 1494 1 (Eq 251 1493);
  Node 1495 1 (Not 1494);
  Node 1496 1 (Extract 8 1484);
  Node 1497 1 (Or 1495 1496);
  Node 1498 1 (And 1492 1497);
  Node 1499 25 (Zext 1491);
  Node 1500 25 (Zext 1498);
  Node 1501 25 (Add 1499 1500);
  Node 1502 1 (Extract 24 1501);
  Node 1503 24 (Extract 0 1501);
  Node 1504 24 (Ite 1502 261 1503);
  Node 1505 1 (Eq 80 1504);
  Node 1506 10 (Zext 1490);
  Node 1507 10 (Zext 1502);
  Node 1508 10 (Add 1506 1507);
  Node 1509 1 (Not 1505);
  Node 1510 1 (Ult 546 1508);
  Node 1511 1 (And 1509 1510);
  Node 1512 10 (Ite 1505 39 1508);
  Node 1513 8 (Extract 0 1512);
  Node 1514 1 (Not 1299);
  Node 1515 1 (And 1298 1514);
  Node 1516 1 (Not 12);
  Node 1517 1 (And 26 1516);
  Node 1518 1 (Or 1515 1517);
  Node 1519 1 (And 1298 1299);
  Node 1520 1 (And 12 26);
  Node 1521 1 (Or 1519 1520);
  Node 1522 1 (Or 28 1294);
  Node 1523 1 (And 1518 1521);
  Node 1524 1 (Or 1522 1523);
  Node 1525 1 (Or 1518 1521);
  Node 1526 1 (Or 1511 1525);
  Node 1527 1 (Not 1524);
  Node 1528 1 (And 1526 1527);
  Node 1529 1 (Ite 1525 1521 1411);
  Node 1533 1 (Extract 23 1504);
  Node 1534 8 (Zext 1533);
  Node 1535 8 (Add 1513 1534);
  Node 1536 23 (Extract 0 1504);
  Node 1537 31 (Concat 1535 1536);
  Node 1538 32 (Concat 1529 1537);
  Node 1539 31 (Const 2139095040);
  Node 1540 32 (Concat 1529 1539);
  Node 1541 32 (Ite 1528 1540 1538);
  Node 1542 32 (Ite 1524 31 1541)].
Definition unit_design : design := {| a_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; b_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; c_format := {| ebits := 8; fbits := 23; bias := 127; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; d_format := {| ebits := 8; fbits := 23; bias := 127; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; scales := None; converted := None; factors := {| of_a := Kept; of_b := Kept; normalise_factors := false; exponent_step := 1; zero_terms := None; odd_negated := false; product_limit := None; product_rounding := None |}; cutting_of := Whole; block := 4%nat; odd_first := false; skips := false; c_rule := Kept; sums := InSteps (Step (Stage {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}) [(Step (Stage {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}) [(Step (Stage {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}) [Product 1; (Step (Stage {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}) [Product 0; PlusZero])]); (Step (Stage {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}) [Product 3; (Step (Stage {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}) [Product 2; PlusZero])])]); C]); nan_word := 0x7fc00000; nans := OneWord; composed := None |}.
Definition plan : unit_plan := UnitPlan [2; 4; 6; 8]%positive [3; 5; 7; 9]%positive 10 []%positive
 [LeafPlan None [(Some 38%positive); (Some 56%positive)] (Number 66 67 70 (-30) 20 76 79);
  LeafPlan None [(Some 293%positive); (Some 308%positive)] (Number 318 319 322 (-30) 20 328 331);
  LeafPlan None [(Some 575%positive); (Some 590%positive)] (Number 600 601 604 (-30) 20 610 613);
  LeafPlan None [(Some 804%positive); (Some 819%positive)] (Number 829 830 833 (-30) 20 839 842)]
 (Number 12 17 30 (-127) 23 28 26) (Some 17%positive) (Number 12 17 30 (-127) 23 28 26)
 [BlockPlan (Number 12 17 30 (-127) 23 28 26) (Sum (Two 26 [Operand (Number 1299 1274 1283 (-126) 23 1294 1298) 1302 253; Operand (Number 12 17 30 (-127) 23 28 26) 22 255] (Fused [Addend (Number 1299 1327 1336 (-157) 23 1294 1298) 1302 1377 1384 134217721 284; Addend (Number 12 1361 1370 (-158) 23 28 26) 22 1385 1392 134217721 286] 1376 (-158) 286 (Partial 1401 (Leaf 1399 0%nat) (Leaf 1400 1%nat)) 1402 (Ending 1491 1498 1490 (Number 1529 1504 1513 (-126) 23 1524 1528)))) None [(Sum (Two 26 [Operand (Number 566 540 550 (-126) 23 561 565) 569 253; Operand (Number 1072 1047 1056 (-126) 23 1067 1071) 1075 253] (Fused [Addend (Number 566 1100 1109 (-157) 23 561 565) 569 1148 1155 134217721 284; Addend (Number 1072 1134 1143 (-157) 23 1067 1071) 1075 1156 1163 134217721 284] 1147 (-157) 284 (Partial 1172 (Leaf 1170 0%nat) (Leaf 1171 1%nat)) 1173 (Ending 1261 1268 1260 (Number 1299 1274 1283 (-126) 23 1294 1298)))) None [(Sum (Two 26 [Operand (Number 318 319 322 (-30) 20 328 331) 323 62; Operand (Number 284 263 274 (-126) 23 279 283) 287 253] (Fused [Addend (Number 318 356 366 (-60) 21 328 331) 323 409 416 134217697 93; Addend (Number 284 391 401 (-157) 23 279 283) 287 417 424 134217721 284] 408 (-157) 284 (Partial 433 (Leaf 431 0%nat) (Leaf 432 1%nat)) 434 (Ending 527 534 526 (Number 566 540 550 (-126) 23 561 565)))) None [(At (Number 318 319 322 (-30) 20 328 331)); (Sum (Two 26 [Operand (Number 66 67 70 (-30) 20 76 79) 71 62; Operand (Number 25 80 25 (-126) 23 25 25) 81 0] (Fused [Addend (Number 66 109 121 (-60) 21 76 79) 71 133 140 134217697 93; Addend (Number 25 80 44 (-157) 23 25 25) 81 132 148 134217721 31] 132 (-157) 190 (Partial 156 (Leaf 154 0%nat) (Leaf 155 1%nat)) 157 (Ending 248 256 247 (Number 284 263 274 (-126) 23 279 283)))) None [(At (Number 66 67 70 (-30) 20 76 79)); (At (Number 25 80 25 (-126) 23 25 25))])]); (Sum (Two 26 [Operand (Number 829 830 833 (-30) 20 839 842) 834 62; Operand (Number 795 776 785 (-126) 23 790 794) 798 253] (Fused [Addend (Number 829 867 877 (-60) 21 839 842) 834 919 926 134217697 93; Addend (Number 795 902 911 (-157) 23 790 794) 798 927 934 134217721 284] 918 (-157) 284 (Partial 943 (Leaf 941 0%nat) (Leaf 942 1%nat)) 944 (Ending 1034 1041 1033 (Number 1072 1047 1056 (-126) 23 1067 1071)))) None [(At (Number 829 830 833 (-30) 20 839 842)); (Sum (Two 26 [Operand (Number 600 601 604 (-30) 20 610 613) 605 62; Operand (Number 25 80 25 (-126) 23 25 25) 81 0] (Fused [Addend (Number 600 638 648 (-60) 21 610 613) 605 654 661 134217697 93; Addend (Number 25 80 44 (-157) 23 25 25) 81 653 667 134217721 31] 653 (-157) 190 (Partial 675 (Leaf 673 0%nat) (Leaf 674 1%nat)) 676 (Ending 763 770 762 (Number 795 776 785 (-126) 23 790 794)))) None [(At (Number 600 601 604 (-30) 20 610 613)); (At (Number 25 80 25 (-126) 23 25 25))])])]); (At (Number 12 17 30 (-127) 23 28 26))])]
 None 1542.
Definition e0 := (Bits 10 5 (U 2)).
Definition e1 := (Equal e0 (Num_ 31)).
Definition e2 := (Bits 0 10 (U 2)).
Definition e3 := (Equal e2 (Num_ 0)).
Definition e4 := (Both e1 (Negation e3)).
Definition e5 := (Equal e0 (Num_ 0)).
Definition e6 := (If e5 e2 (Plus e2 (Num_ 1024))).
Definition e7 := (Bits 10 5 (U 3)).
Definition e8 := (Equal e7 (Num_ 31)).
Definition e9 := (Bits 0 10 (U 3)).
Definition e10 := (Equal e9 (Num_ 0)).
Definition e11 := (Both e8 (Negation e10)).
Definition e12 := (Both e8 e10).
Definition e13 := (Equal e7 (Num_ 0)).
Definition e14 := (If e13 e9 (Plus e9 (Num_ 1024))).
Definition e15 := (Either (Either e4 e11) (Either (Both (Both e1 e3) (Both (Negation (Either e11 e12)) (Equal e14 (Num_ 0)))) (Both (Both (Negation (Either e4 (Both e1 e3))) (Equal e6 (Num_ 0))) e12))).
Definition e16 := (Negation (Is 76)).
Definition e17 := (Negation e15).
Definition e18 := (Either (Both e1 e3) e12).
Definition e19 := (Negation (Is 79)).
Definition e20 := (Negation e18).
Definition e21 := (Equal (Bits 15 1 (U 2)) (Num_ 1)).
Definition e22 := (Equal (Bits 15 1 (U 3)) (Num_ 1)).
Definition e23 := (Negation (Either (Both e21 e22) (Both (Negation e21) (Negation e22)))).
Definition e24 := (Negation (Is 66)).
Definition e25 := (Plus (U 70) (Num_ (-30))).
Definition e26 := (Bits 10 5 (U 4)).
Definition e27 := (Equal e26 (Num_ 31)).
Definition e28 := (Bits 0 10 (U 4)).
Definition e29 := (Equal e28 (Num_ 0)).
Definition e30 := (Both e27 (Negation e29)).
Definition e31 := (Both e27 e29).
Definition e32 := (Equal e26 (Num_ 0)).
Definition e33 := (If e32 e28 (Plus e28 (Num_ 1024))).
Definition e34 := (Bits 10 5 (U 5)).
Definition e35 := (Equal e34 (Num_ 31)).
Definition e36 := (Bits 0 10 (U 5)).
Definition e37 := (Equal e36 (Num_ 0)).
Definition e38 := (Both e35 (Negation e37)).
Definition e39 := (Both e35 e37).
Definition e40 := (Equal e34 (Num_ 0)).
Definition e41 := (If e40 e36 (Plus e36 (Num_ 1024))).
Definition e42 := (Either (Either e30 e38) (Either (Both e31 (Both (Negation (Either e38 e39)) (Equal e41 (Num_ 0)))) (Both (Both (Negation (Either e30 e31)) (Equal e33 (Num_ 0))) e39))).
Definition e43 := (Negation (Is 328)).
Definition e44 := (Negation e42).
Definition e45 := (Either e31 e39).
Definition e46 := (Negation (Is 331)).
Definition e47 := (Negation e45).
Definition e48 := (Equal (Bits 15 1 (U 4)) (Num_ 1)).
Definition e49 := (Equal (Bits 15 1 (U 5)) (Num_ 1)).
Definition e50 := (Negation (Either (Both e48 e49) (Both (Negation e48) (Negation e49)))).
Definition e51 := (Negation (Is 318)).
Definition e52 := (Plus (U 322) (Num_ (-30))).
Definition e53 := (Bits 10 5 (U 6)).
Definition e54 := (Equal e53 (Num_ 31)).
Definition e55 := (Bits 0 10 (U 6)).
Definition e56 := (Equal e55 (Num_ 0)).
Definition e57 := (Both e54 (Negation e56)).
Definition e58 := (Both e54 e56).
Definition e59 := (Equal e53 (Num_ 0)).
Definition e60 := (If e59 e55 (Plus e55 (Num_ 1024))).
Definition e61 := (Bits 10 5 (U 7)).
Definition e62 := (Equal e61 (Num_ 31)).
Definition e63 := (Bits 0 10 (U 7)).
Definition e64 := (Equal e63 (Num_ 0)).
Definition e65 := (Both e62 (Negation e64)).
Definition e66 := (Both e62 e64).
Definition e67 := (Equal e61 (Num_ 0)).
Definition e68 := (If e67 e63 (Plus e63 (Num_ 1024))).
Definition e69 := (Either (Either e57 e65) (Either (Both e58 (Both (Negation (Either e65 e66)) (Equal e68 (Num_ 0)))) (Both (Both (Negation (Either e57 e58)) (Equal e60 (Num_ 0))) e66))).
Definition e70 := (Negation (Is 610)).
Definition e71 := (Negation e69).
Definition e72 := (Either e58 e66).
Definition e73 := (Negation (Is 613)).
Definition e74 := (Negation e72).
Definition e75 := (Equal (Bits 15 1 (U 6)) (Num_ 1)).
Definition e76 := (Equal (Bits 15 1 (U 7)) (Num_ 1)).
Definition e77 := (Negation (Either (Both e75 e76) (Both (Negation e75) (Negation e76)))).
Definition e78 := (Negation (Is 600)).
Definition e79 := (Plus (U 604) (Num_ (-30))).
Definition e80 := (Bits 10 5 (U 8)).
Definition e81 := (Equal e80 (Num_ 31)).
Definition e82 := (Bits 0 10 (U 8)).
Definition e83 := (Equal e82 (Num_ 0)).
Definition e84 := (Both e81 (Negation e83)).
Definition e85 := (Both e81 e83).
Definition e86 := (Equal e80 (Num_ 0)).
Definition e87 := (If e86 e82 (Plus e82 (Num_ 1024))).
Definition e88 := (Bits 10 5 (U 9)).
Definition e89 := (Equal e88 (Num_ 31)).
Definition e90 := (Bits 0 10 (U 9)).
Definition e91 := (Equal e90 (Num_ 0)).
Definition e92 := (Both e89 (Negation e91)).
Definition e93 := (Both e89 e91).
Definition e94 := (Equal e88 (Num_ 0)).
Definition e95 := (If e94 e90 (Plus e90 (Num_ 1024))).
Definition e96 := (Either (Either e84 e92) (Either (Both e85 (Both (Negation (Either e92 e93)) (Equal e95 (Num_ 0)))) (Both (Both (Negation (Either e84 e85)) (Equal e87 (Num_ 0))) e93))).
Definition e97 := (Negation (Is 839)).
Definition e98 := (Negation e96).
Definition e99 := (Either e85 e93).
Definition e100 := (Negation (Is 842)).
Definition e101 := (Negation e99).
Definition e102 := (Equal (Bits 15 1 (U 8)) (Num_ 1)).
Definition e103 := (Equal (Bits 15 1 (U 9)) (Num_ 1)).
Definition e104 := (Negation (Either (Both e102 e103) (Both (Negation e102) (Negation e103)))).
Definition e105 := (Negation (Is 829)).
Definition e106 := (Plus (U 833) (Num_ (-30))).
Definition e107 := (Bits 23 8 (U 10)).
Definition e108 := (Equal e107 (Num_ 255)).
Definition e109 := (Bits 0 23 (U 10)).
Definition e110 := (Equal e109 (Num_ 0)).
Definition e111 := (Both e108 (Negation e110)).
Definition e112 := (Negation e111).
Definition e113 := (Both e108 e110).
Definition e114 := (Negation e113).
Definition e115 := (Equal e107 (Num_ 0)).
Definition e116 := (Num_ 8388608).
Definition e117 := (Negation (Is 28)).
Definition e118 := (Negation (Is 26)).
Definition e119 := (Equal (Bits 31 1 (U 10)) (Num_ 1)).
Definition e120 := (Negation (Is 12)).
Definition e121 := (Plus (U 30) (Num_ (-127))).
Definition e122 := (Num_ (-126)).
Definition e123 := (Negation (Is 1294)).
Definition e124 := (Negation (Is 1298)).
Definition e125 := (Both e123 e124).
Definition e126 := (AtMost (U 1283) (Num_ 253)).
Definition e127 := (Equal (U 1274) (Num_ 0)).
Definition e128 := (Negation (Is 1302)).
Definition e129 := (Negation e127).
Definition e130 := (Either (Both (Is 1302) e127) (Both e128 e129)).
Definition e131 := (Equal (U 1327) (Num_ 0)).
Definition e132 := (Negation e131).
Definition e133 := (Plus (U 1283) e122).
Definition e134 := (Num_ (-157)).
Definition e135 := (Plus (U 1336) e134).
Definition e136 := (Plus (Minus e133 e135) (Num_ 0)).
Definition e137 := (Both e117 e118).
Definition e138 := (AtMost (U 30) (Num_ 255)).
Definition e139 := (Equal (U 17) (Num_ 0)).
Definition e140 := (Negation (Is 22)).
Definition e141 := (Negation e139).
Definition e142 := (Either (Both (Is 22) e139) (Both e140 e141)).
Definition e143 := (Equal (U 1361) (Num_ 0)).
Definition e144 := (Negation e143).
Definition e145 := (Num_ (-158)).
Definition e146 := (Plus (U 1370) e145).
Definition e147 := (Plus (Minus e121 e146) (Num_ 0)).
Definition e148 := (AtMost (U 1336) (Num_ 284)).
Definition e149 := (AtMost (U 1370) (Num_ 286)).
Definition e150 := (Plus (U 1376) e145).
Definition e151 := (Low (U 1377) (Num_ 27)).
Definition e152 := (Times (U 1327) (Num_ 8)).
Definition e153 := (Num_ 134217721).
Definition e154 := (Low (U 1385) (Num_ 27)).
Definition e155 := (Times (U 1361) (Num_ 8)).
Definition e156 := (Equal (Num_ 0) (Num_ 0)).
Definition e157 := (Negation e156).
Definition e158 := (AtMost (U 1376) (Num_ 286)).
Definition e159 := (Num_ (-268435442)).
Definition e160 := (Num_ 268435442).
Definition e161 := (Num_ (-134217721)).
Definition e162 := (Equal (Sg 1402) (Num_ 0)).
Definition e163 := (Both (AtMost e159 (Sg 1402)) (AtMost (Sg 1402) e160)).
Definition e164 := (Negation (Is 1498)).
Definition e165 := (Both (Equal (U 1491) (Num_ 0)) e164).
Definition e166 := (Negation e162).
Definition e167 := (Either (AtMost e116 (U 1491)) (Equal (U 1490) (Num_ 0))).
Definition e168 := (Num_ (-149)).
Definition e169 := (Plus (U 1490) e168).
Definition e170 := (Plus (U 1376) (Num_ (-184))).
Definition e171 := (Abs (Sg 1402)).
Definition e172 := (Less e170 e169).
Definition e173 := (Low (Minus e169 e170) (Num_ 30)).
Definition e174 := (Shift (U 1491) e173).
Definition e175 := (Shift (Num_ 1) e173).
Definition e176 := (Minus e171 e174).
Definition e177 := (Plus e176 e176).
Definition e178 := (Either (Less e175 e177) (Both (Equal e175 e177) (Equal (Bits 0 1 (U 1491)) (Num_ 1)))).
Definition e179 := (Negation (Is 1299)).
Definition e180 := (Either (Both (Is 1298) e179) (Either (Both (Is 26) e120) e157)).
Definition e181 := (Either (Both (Is 1298) (Is 1299)) (Either (Both (Is 26) (Is 12)) e157)).
Definition e182 := (Either (Either (Is 1294) (Either (Is 28) e157)) (Both e180 e181)).
Definition e183 := (Negation (Is 1524)).
Definition e184 := (Negation e182).
Definition e185 := (Either e180 e181).
Definition e186 := (Negation (Is 1529)).
Definition e187 := (Negation e185).
Definition e188 := (Either e166 e165).
Definition e189 := (Either e162 e167).
Definition e190 := (Plus (U 1491) (If (Is 1498) (Num_ 1) (Num_ 0))).
Definition e191 := (Either (Equal e190 (Num_ 0)) e157).
Definition e192 := (Negation e191).
Definition e193 := (Num_ 16777216).
Definition e194 := (AtMost e193 e190).
Definition e195 := (Plus (U 1490) (If e194 (Num_ 1) (Num_ 0))).
Definition e196 := (Both (AtMost e116 e190) (Less (Num_ 253) e195)).
Definition e197 := (Both e192 (Both e196 e156)).
Definition e198 := (Negation (Is 1528)).
Definition e199 := (Negation e197).
Definition e200 := (Less (Sg 1402) (Num_ 0)).
Definition e201 := (Both (Both (Equal (U 1384) (Num_ 0)) (Both (Equal (U 1392) (Num_ 0)) e156)) (Either (Both (Is 1299) (Both (Is 12) e156)) (Both e179 (Both e120 e156)))).
Definition e202 := (Either (Both e191 (Either (Both e166 e200) (Both e162 (Either (Both e201 (Either (Is 1299) (Either (Is 12) e157))) (Both (Negation e201) e157))))) (Both e192 e200)).
Definition e203 := (Num_ 16777215).
Definition e204 := (Plus (U 1513) e122).
Definition e205 := (Negation (Is 561)).
Definition e206 := (Negation (Is 565)).
Definition e207 := (Both e205 e206).
Definition e208 := (AtMost (U 550) (Num_ 253)).
Definition e209 := (Equal (U 540) (Num_ 0)).
Definition e210 := (Negation (Is 569)).
Definition e211 := (Negation e209).
Definition e212 := (Either (Both (Is 569) e209) (Both e210 e211)).
Definition e213 := (Equal (U 1100) (Num_ 0)).
Definition e214 := (Negation e213).
Definition e215 := (Plus (U 550) e122).
Definition e216 := (Plus (U 1109) e134).
Definition e217 := (Plus (Minus e215 e216) (Num_ 0)).
Definition e218 := (Negation (Is 1067)).
Definition e219 := (Negation (Is 1071)).
Definition e220 := (Both e218 e219).
Definition e221 := (AtMost (U 1056) (Num_ 253)).
Definition e222 := (Equal (U 1047) (Num_ 0)).
Definition e223 := (Negation (Is 1075)).
Definition e224 := (Negation e222).
Definition e225 := (Either (Both (Is 1075) e222) (Both e223 e224)).
Definition e226 := (Equal (U 1134) (Num_ 0)).
Definition e227 := (Negation e226).
Definition e228 := (Plus (U 1056) e122).
Definition e229 := (Plus (U 1143) e134).
Definition e230 := (Plus (Minus e228 e229) (Num_ 0)).
Definition e231 := (AtMost (U 1109) (Num_ 284)).
Definition e232 := (AtMost (U 1143) (Num_ 284)).
Definition e233 := (Plus (U 1147) e134).
Definition e234 := (Low (U 1148) (Num_ 27)).
Definition e235 := (Times (U 1100) (Num_ 8)).
Definition e236 := (Low (U 1156) (Num_ 27)).
Definition e237 := (Times (U 1134) (Num_ 8)).
Definition e238 := (AtMost (U 1147) (Num_ 284)).
Definition e239 := (Equal (Sg 1173) (Num_ 0)).
Definition e240 := (Both (AtMost e159 (Sg 1173)) (AtMost (Sg 1173) e160)).
Definition e241 := (Negation (Is 1268)).
Definition e242 := (Both (Equal (U 1261) (Num_ 0)) e241).
Definition e243 := (Negation e239).
Definition e244 := (Either (AtMost e116 (U 1261)) (Equal (U 1260) (Num_ 0))).
Definition e245 := (Plus (U 1260) e168).
Definition e246 := (Num_ (-183)).
Definition e247 := (Plus (U 1147) e246).
Definition e248 := (Abs (Sg 1173)).
Definition e249 := (Less e247 e245).
Definition e250 := (Low (Minus e245 e247) (Num_ 30)).
Definition e251 := (Shift (U 1261) e250).
Definition e252 := (Shift (Num_ 1) e250).
Definition e253 := (Minus e248 e251).
Definition e254 := (Plus e253 e253).
Definition e255 := (Either (Less e252 e254) (Both (Equal e252 e254) (Equal (Bits 0 1 (U 1261)) (Num_ 1)))).
Definition e256 := (Negation (Is 566)).
Definition e257 := (Negation (Is 1072)).
Definition e258 := (Either (Both (Is 565) e256) (Either (Both (Is 1071) e257) e157)).
Definition e259 := (Either (Both (Is 565) (Is 566)) (Either (Both (Is 1071) (Is 1072)) e157)).
Definition e260 := (Either (Either (Is 561) (Either (Is 1067) e157)) (Both e258 e259)).
Definition e261 := (Negation e260).
Definition e262 := (Either e258 e259).
Definition e263 := (Negation e262).
Definition e264 := (Either e243 e242).
Definition e265 := (Either e239 e244).
Definition e266 := (Plus (U 1261) (If (Is 1268) (Num_ 1) (Num_ 0))).
Definition e267 := (Either (Equal e266 (Num_ 0)) e157).
Definition e268 := (Negation e267).
Definition e269 := (AtMost e193 e266).
Definition e270 := (Plus (U 1260) (If e269 (Num_ 1) (Num_ 0))).
Definition e271 := (Both (AtMost e116 e266) (Less (Num_ 253) e270)).
Definition e272 := (Both e268 (Both e271 e156)).
Definition e273 := (Negation e272).
Definition e274 := (Less (Sg 1173) (Num_ 0)).
Definition e275 := (Both (Both (Equal (U 1155) (Num_ 0)) (Both (Equal (U 1163) (Num_ 0)) e156)) (Either (Both (Is 566) (Both (Is 1072) e156)) (Both e256 (Both e257 e156)))).
Definition e276 := (Either (Both e267 (Either (Both e243 e274) (Both e239 (Either (Both e275 (Either (Is 566) (Either (Is 1072) e157))) (Both (Negation e275) e157))))) (Both e268 e274)).
Definition e277 := (Both e43 e46).
Definition e278 := (AtMost (U 322) (Num_ 62)).
Definition e279 := (Equal (U 319) (Num_ 0)).
Definition e280 := (Negation (Is 323)).
Definition e281 := (Negation e279).
Definition e282 := (Either (Both (Is 323) e279) (Both e280 e281)).
Definition e283 := (Equal (U 356) (Num_ 0)).
Definition e284 := (Negation e283).
Definition e285 := (Plus (U 366) (Num_ (-60))).
Definition e286 := (Plus (Minus e52 e285) (Num_ 1)).
Definition e287 := (Num_ 2097152).
Definition e288 := (Negation (Is 279)).
Definition e289 := (Negation (Is 283)).
Definition e290 := (Both e288 e289).
Definition e291 := (AtMost (U 274) (Num_ 253)).
Definition e292 := (Equal (U 263) (Num_ 0)).
Definition e293 := (Negation (Is 287)).
Definition e294 := (Negation e292).
Definition e295 := (Either (Both (Is 287) e292) (Both e293 e294)).
Definition e296 := (Equal (U 391) (Num_ 0)).
Definition e297 := (Negation e296).
Definition e298 := (Plus (U 274) e122).
Definition e299 := (Plus (U 401) e134).
Definition e300 := (Plus (Minus e298 e299) (Num_ 0)).
Definition e301 := (AtMost (U 366) (Num_ 93)).
Definition e302 := (AtMost (U 401) (Num_ 284)).
Definition e303 := (Plus (U 408) e134).
Definition e304 := (Low (U 409) (Num_ 27)).
Definition e305 := (Times (U 356) (Num_ 32)).
Definition e306 := (Num_ 134217697).
Definition e307 := (Low (U 417) (Num_ 27)).
Definition e308 := (Times (U 391) (Num_ 8)).
Definition e309 := (AtMost (U 408) (Num_ 284)).
Definition e310 := (Num_ (-268435418)).
Definition e311 := (Num_ 268435418).
Definition e312 := (Num_ (-134217697)).
Definition e313 := (Equal (Sg 434) (Num_ 0)).
Definition e314 := (Both (AtMost e310 (Sg 434)) (AtMost (Sg 434) e311)).
Definition e315 := (Negation (Is 534)).
Definition e316 := (Both (Equal (U 527) (Num_ 0)) e315).
Definition e317 := (Negation e313).
Definition e318 := (Either (AtMost e116 (U 527)) (Equal (U 526) (Num_ 0))).
Definition e319 := (Plus (U 526) e168).
Definition e320 := (Plus (U 408) e246).
Definition e321 := (Abs (Sg 434)).
Definition e322 := (Less e320 e319).
Definition e323 := (Low (Minus e319 e320) (Num_ 30)).
Definition e324 := (Shift (U 527) e323).
Definition e325 := (Shift (Num_ 1) e323).
Definition e326 := (Minus e321 e324).
Definition e327 := (Plus e326 e326).
Definition e328 := (Either (Less e325 e327) (Both (Equal e325 e327) (Equal (Bits 0 1 (U 527)) (Num_ 1)))).
Definition e329 := (Negation (Is 284)).
Definition e330 := (Either (Both (Is 331) e51) (Either (Both (Is 283) e329) e157)).
Definition e331 := (Either (Both (Is 331) (Is 318)) (Either (Both (Is 283) (Is 284)) e157)).
Definition e332 := (Either (Either (Is 328) (Either (Is 279) e157)) (Both e330 e331)).
Definition e333 := (Negation e332).
Definition e334 := (Either e330 e331).
Definition e335 := (Negation e334).
Definition e336 := (Either e317 e316).
Definition e337 := (Either e313 e318).
Definition e338 := (Plus (U 527) (If (Is 534) (Num_ 1) (Num_ 0))).
Definition e339 := (Either (Equal e338 (Num_ 0)) e157).
Definition e340 := (Negation e339).
Definition e341 := (AtMost e193 e338).
Definition e342 := (Plus (U 526) (If e341 (Num_ 1) (Num_ 0))).
Definition e343 := (Both (AtMost e116 e338) (Less (Num_ 253) e342)).
Definition e344 := (Both e340 (Both e343 e156)).
Definition e345 := (Negation e344).
Definition e346 := (Less (Sg 434) (Num_ 0)).
Definition e347 := (Both (Both (Equal (U 416) (Num_ 0)) (Both (Equal (U 424) (Num_ 0)) e156)) (Either (Both (Is 318) (Both (Is 284) e156)) (Both e51 (Both e329 e156)))).
Definition e348 := (Either (Both e339 (Either (Both e317 e346) (Both e313 (Either (Both e347 (Either (Is 318) (Either (Is 284) e157))) (Both (Negation e347) e157))))) (Both e340 e346)).
Definition e349 := (Both e16 e19).
Definition e350 := (AtMost (U 70) (Num_ 62)).
Definition e351 := (Equal (U 67) (Num_ 0)).
Definition e352 := (Negation (Is 71)).
Definition e353 := (Negation e351).
Definition e354 := (Either (Both (Is 71) e351) (Both e352 e353)).
Definition e355 := (Equal (U 109) (Num_ 0)).
Definition e356 := (Negation e355).
Definition e357 := (Plus (U 121) (Num_ (-60))).
Definition e358 := (Plus (Minus e25 e357) (Num_ 1)).
Definition e359 := (Negation (Is 25)).
Definition e360 := (Both e359 e359).
Definition e361 := (AtMost (U 25) (Num_ 0)).
Definition e362 := (Equal (U 80) (Num_ 0)).
Definition e363 := (Negation (Is 81)).
Definition e364 := (Negation e362).
Definition e365 := (Either (Both (Is 81) e362) (Both e363 e364)).
Definition e366 := (Either (Both e362 e362) (Both e364 e364)).
Definition e367 := (Plus (U 25) e122).
Definition e368 := (Plus (U 44) e134).
Definition e369 := (Plus (Minus e367 e368) (Num_ 0)).
Definition e370 := (Both (AtMost (Num_ 0) e369) (AtMost e369 (Num_ 24))).
Definition e371 := (Equal (U 80) (Shift (U 80) (Low e369 (Num_ 24)))).
Definition e372 := (AtMost e116 (U 80)).
Definition e373 := (AtMost (U 121) (Num_ 93)).
Definition e374 := (AtMost (U 44) (Num_ 31)).
Definition e375 := (Plus (U 132) e134).
Definition e376 := (Low (U 133) (Num_ 27)).
Definition e377 := (Times (U 109) (Num_ 32)).
Definition e378 := (Low (U 132) (Num_ 27)).
Definition e379 := (Times (U 80) (Num_ 8)).
Definition e380 := (Both (Negation e363) e156).
Definition e381 := (AtMost (U 132) (Num_ 190)).
Definition e382 := (Equal (Sg 157) (Num_ 0)).
Definition e383 := (Both (AtMost e310 (Sg 157)) (AtMost (Sg 157) e311)).
Definition e384 := (Negation (Is 256)).
Definition e385 := (Both (Equal (U 248) (Num_ 0)) e384).
Definition e386 := (Negation e382).
Definition e387 := (Either (AtMost e116 (U 248)) (Equal (U 247) (Num_ 0))).
Definition e388 := (Plus (U 247) e168).
Definition e389 := (Plus (U 132) e246).
Definition e390 := (Abs (Sg 157)).
Definition e391 := (Less e389 e388).
Definition e392 := (Low (Minus e388 e389) (Num_ 30)).
Definition e393 := (Shift (U 248) e392).
Definition e394 := (Shift (Num_ 1) e392).
Definition e395 := (Minus e390 e393).
Definition e396 := (Plus e395 e395).
Definition e397 := (Either (Less e394 e396) (Both (Equal e394 e396) (Equal (Bits 0 1 (U 248)) (Num_ 1)))).
Definition e398 := (Either (Is 25) e157).
Definition e399 := (Either (Both (Is 25) e359) e157).
Definition e400 := (Either (Both (Is 79) e24) e399).
Definition e401 := (Either (Both (Is 25) (Is 25)) e157).
Definition e402 := (Either (Both (Is 79) (Is 66)) e401).
Definition e403 := (Either (Either (Is 76) e398) (Both e400 e402)).
Definition e404 := (Negation e403).
Definition e405 := (Either e400 e402).
Definition e406 := (Negation e405).
Definition e407 := (Either e386 e385).
Definition e408 := (Either e382 e387).
Definition e409 := (Plus (U 248) (If (Is 256) (Num_ 1) (Num_ 0))).
Definition e410 := (Either (Equal e409 (Num_ 0)) e157).
Definition e411 := (Negation e410).
Definition e412 := (AtMost e193 e409).
Definition e413 := (Plus (U 247) (If e412 (Num_ 1) (Num_ 0))).
Definition e414 := (Both (AtMost e116 e409) (Less (Num_ 253) e413)).
Definition e415 := (Both e411 (Both e414 e156)).
Definition e416 := (Negation e415).
Definition e417 := (Less (Sg 157) (Num_ 0)).
Definition e418 := (Both (Is 25) e156).
Definition e419 := (Both e359 e156).
Definition e420 := (Both (Both (Equal (U 140) (Num_ 0)) (Both (Equal (U 148) (Num_ 0)) e156)) (Either (Both (Is 66) e418) (Both e24 e419))).
Definition e421 := (Either (Both e410 (Either (Both e386 e417) (Both e382 (Either (Both e420 (Either (Is 66) e398)) (Both (Negation e420) e157))))) (Both e411 e417)).
Definition e422 := (Negation e157).
Definition e423 := (Either (Both (Is 25) e157) (Both e359 e422)).
Definition e424 := (Equal e367 e122).
Definition e425 := (Both e97 e100).
Definition e426 := (AtMost (U 833) (Num_ 62)).
Definition e427 := (Equal (U 830) (Num_ 0)).
Definition e428 := (Negation (Is 834)).
Definition e429 := (Negation e427).
Definition e430 := (Either (Both (Is 834) e427) (Both e428 e429)).
Definition e431 := (Equal (U 867) (Num_ 0)).
Definition e432 := (Negation e431).
Definition e433 := (Plus (U 877) (Num_ (-60))).
Definition e434 := (Plus (Minus e106 e433) (Num_ 1)).
Definition e435 := (Negation (Is 790)).
Definition e436 := (Negation (Is 794)).
Definition e437 := (Both e435 e436).
Definition e438 := (AtMost (U 785) (Num_ 253)).
Definition e439 := (Equal (U 776) (Num_ 0)).
Definition e440 := (Negation (Is 798)).
Definition e441 := (Negation e439).
Definition e442 := (Either (Both (Is 798) e439) (Both e440 e441)).
Definition e443 := (Equal (U 902) (Num_ 0)).
Definition e444 := (Negation e443).
Definition e445 := (Plus (U 785) e122).
Definition e446 := (Plus (U 911) e134).
Definition e447 := (Plus (Minus e445 e446) (Num_ 0)).
Definition e448 := (AtMost (U 877) (Num_ 93)).
Definition e449 := (AtMost (U 911) (Num_ 284)).
Definition e450 := (Plus (U 918) e134).
Definition e451 := (Low (U 919) (Num_ 27)).
Definition e452 := (Times (U 867) (Num_ 32)).
Definition e453 := (Low (U 927) (Num_ 27)).
Definition e454 := (Times (U 902) (Num_ 8)).
Definition e455 := (AtMost (U 918) (Num_ 284)).
Definition e456 := (Equal (Sg 944) (Num_ 0)).
Definition e457 := (Both (AtMost e310 (Sg 944)) (AtMost (Sg 944) e311)).
Definition e458 := (Negation (Is 1041)).
Definition e459 := (Both (Equal (U 1034) (Num_ 0)) e458).
Definition e460 := (Negation e456).
Definition e461 := (Either (AtMost e116 (U 1034)) (Equal (U 1033) (Num_ 0))).
Definition e462 := (Plus (U 1033) e168).
Definition e463 := (Plus (U 918) e246).
Definition e464 := (Abs (Sg 944)).
Definition e465 := (Less e463 e462).
Definition e466 := (Low (Minus e462 e463) (Num_ 30)).
Definition e467 := (Shift (U 1034) e466).
Definition e468 := (Shift (Num_ 1) e466).
Definition e469 := (Minus e464 e467).
Definition e470 := (Plus e469 e469).
Definition e471 := (Either (Less e468 e470) (Both (Equal e468 e470) (Equal (Bits 0 1 (U 1034)) (Num_ 1)))).
Definition e472 := (Negation (Is 795)).
Definition e473 := (Either (Both (Is 842) e105) (Either (Both (Is 794) e472) e157)).
Definition e474 := (Either (Both (Is 842) (Is 829)) (Either (Both (Is 794) (Is 795)) e157)).
Definition e475 := (Either (Either (Is 839) (Either (Is 790) e157)) (Both e473 e474)).
Definition e476 := (Negation e475).
Definition e477 := (Either e473 e474).
Definition e478 := (Negation e477).
Definition e479 := (Either e460 e459).
Definition e480 := (Either e456 e461).
Definition e481 := (Plus (U 1034) (If (Is 1041) (Num_ 1) (Num_ 0))).
Definition e482 := (Either (Equal e481 (Num_ 0)) e157).
Definition e483 := (Negation e482).
Definition e484 := (AtMost e193 e481).
Definition e485 := (Plus (U 1033) (If e484 (Num_ 1) (Num_ 0))).
Definition e486 := (Both (AtMost e116 e481) (Less (Num_ 253) e485)).
Definition e487 := (Both e483 (Both e486 e156)).
Definition e488 := (Negation e487).
Definition e489 := (Less (Sg 944) (Num_ 0)).
Definition e490 := (Both (Both (Equal (U 926) (Num_ 0)) (Both (Equal (U 934) (Num_ 0)) e156)) (Either (Both (Is 829) (Both (Is 795) e156)) (Both e105 (Both e472 e156)))).
Definition e491 := (Either (Both e482 (Either (Both e460 e489) (Both e456 (Either (Both e490 (Either (Is 829) (Either (Is 795) e157))) (Both (Negation e490) e157))))) (Both e483 e489)).
Definition e492 := (Both e70 e73).
Definition e493 := (AtMost (U 604) (Num_ 62)).
Definition e494 := (Equal (U 601) (Num_ 0)).
Definition e495 := (Negation (Is 605)).
Definition e496 := (Negation e494).
Definition e497 := (Either (Both (Is 605) e494) (Both e495 e496)).
Definition e498 := (Equal (U 638) (Num_ 0)).
Definition e499 := (Negation e498).
Definition e500 := (Plus (U 648) (Num_ (-60))).
Definition e501 := (Plus (Minus e79 e500) (Num_ 1)).
Definition e502 := (AtMost (U 648) (Num_ 93)).
Definition e503 := (Plus (U 653) e134).
Definition e504 := (Low (U 654) (Num_ 27)).
Definition e505 := (Times (U 638) (Num_ 32)).
Definition e506 := (Low (U 653) (Num_ 27)).
Definition e507 := (AtMost (U 653) (Num_ 190)).
Definition e508 := (Equal (Sg 676) (Num_ 0)).
Definition e509 := (Both (AtMost e310 (Sg 676)) (AtMost (Sg 676) e311)).
Definition e510 := (Negation (Is 770)).
Definition e511 := (Both (Equal (U 763) (Num_ 0)) e510).
Definition e512 := (Negation e508).
Definition e513 := (Either (AtMost e116 (U 763)) (Equal (U 762) (Num_ 0))).
Definition e514 := (Plus (U 762) e168).
Definition e515 := (Plus (U 653) e246).
Definition e516 := (Abs (Sg 676)).
Definition e517 := (Less e515 e514).
Definition e518 := (Low (Minus e514 e515) (Num_ 30)).
Definition e519 := (Shift (U 763) e518).
Definition e520 := (Shift (Num_ 1) e518).
Definition e521 := (Minus e516 e519).
Definition e522 := (Plus e521 e521).
Definition e523 := (Either (Less e520 e522) (Both (Equal e520 e522) (Equal (Bits 0 1 (U 763)) (Num_ 1)))).
Definition e524 := (Either (Both (Is 613) e78) e399).
Definition e525 := (Either (Both (Is 613) (Is 600)) e401).
Definition e526 := (Either (Either (Is 610) e398) (Both e524 e525)).
Definition e527 := (Negation e526).
Definition e528 := (Either e524 e525).
Definition e529 := (Negation e528).
Definition e530 := (Either e512 e511).
Definition e531 := (Either e508 e513).
Definition e532 := (Plus (U 763) (If (Is 770) (Num_ 1) (Num_ 0))).
Definition e533 := (Either (Equal e532 (Num_ 0)) e157).
Definition e534 := (Negation e533).
Definition e535 := (AtMost e193 e532).
Definition e536 := (Plus (U 762) (If e535 (Num_ 1) (Num_ 0))).
Definition e537 := (Both (AtMost e116 e532) (Less (Num_ 253) e536)).
Definition e538 := (Both e534 (Both e537 e156)).
Definition e539 := (Negation e538).
Definition e540 := (Less (Sg 676) (Num_ 0)).
Definition e541 := (Both (Both (Equal (U 661) (Num_ 0)) (Both (Equal (U 667) (Num_ 0)) e156)) (Either (Both (Is 600) e418) (Both e78 e419))).
Definition e542 := (Either (Both e533 (Either (Both e512 e540) (Both e508 (Either (Both e541 (Either (Is 600) e398)) (Both (Negation e541) e157))))) (Both e534 e540)).
Definition e543 := (If (Is 1529) (Num_ 2147483648) (Num_ 0)).
Definition e544 := (Times (U 1504) (Num_ 1)).
Definition certified : list claim := [
  Claim [(Negation e4); (Negation (Both e1 e3))] (Equal (U 38) e6);
  Claim [(Negation e11); (Negation e12)] (Equal (U 56) e14);
  Claim [] (Either (Both (Is 76) e15) (Both e16 e17));
  Claim [e17] (Either (Both (Is 79) e18) (Both e19 e20));
  Claim [e17] (Either (Both (Is 66) e23) (Both e24 (Negation e23)));
  Claim [e17; e20] (Equal e25 (Plus (If e5 (Num_ (-14)) (Minus e0 (Num_ 15))) (If e13 (Num_ (-14)) (Minus e7 (Num_ 15)))));
  Claim [] (Equal (U 67) (Times (U 38) (U 56)));
  Claim [(Negation e30); (Negation e31)] (Equal (U 293) e33);
  Claim [(Negation e38); (Negation e39)] (Equal (U 308) e41);
  Claim [] (Either (Both (Is 328) e42) (Both e43 e44));
  Claim [e44] (Either (Both (Is 331) e45) (Both e46 e47));
  Claim [e44] (Either (Both (Is 318) e50) (Both e51 (Negation e50)));
  Claim [e44; e47] (Equal e52 (Plus (If e32 (Num_ (-14)) (Minus e26 (Num_ 15))) (If e40 (Num_ (-14)) (Minus e34 (Num_ 15)))));
  Claim [] (Equal (U 319) (Times (U 293) (U 308)));
  Claim [(Negation e57); (Negation e58)] (Equal (U 575) e60);
  Claim [(Negation e65); (Negation e66)] (Equal (U 590) e68);
  Claim [] (Either (Both (Is 610) e69) (Both e70 e71));
  Claim [e71] (Either (Both (Is 613) e72) (Both e73 e74));
  Claim [e71] (Either (Both (Is 600) e77) (Both e78 (Negation e77)));
  Claim [e71; e74] (Equal e79 (Plus (If e59 (Num_ (-14)) (Minus e53 (Num_ 15))) (If e67 (Num_ (-14)) (Minus e61 (Num_ 15)))));
  Claim [] (Equal (U 601) (Times (U 575) (U 590)));
  Claim [(Negation e84); (Negation e85)] (Equal (U 804) e87);
  Claim [(Negation e92); (Negation e93)] (Equal (U 819) e95);
  Claim [] (Either (Both (Is 839) e96) (Both e97 e98));
  Claim [e98] (Either (Both (Is 842) e99) (Both e100 e101));
  Claim [e98] (Either (Both (Is 829) e104) (Both e105 (Negation e104)));
  Claim [e98; e101] (Equal e106 (Plus (If e86 (Num_ (-14)) (Minus e80 (Num_ 15))) (If e94 (Num_ (-14)) (Minus e88 (Num_ 15)))));
  Claim [] (Equal (U 830) (Times (U 804) (U 819)));
  Claim [e112; e114] (Equal (U 17) (If e115 e109 (Plus e109 e116)));
  Claim [] (Either (Both (Is 28) e111) (Both e117 e112));
  Claim [e112] (Either (Both (Is 26) e113) (Both e118 e114));
  Claim [e112] (Either (Both (Is 12) e119) (Both e120 (Negation e119)));
  Claim [e112; e114] (Equal e121 (If e115 e122 (Minus e107 (Num_ 127))));
  Claim [] (Equal (U 17) (U 17));
  Claim [e125] e126;
  Claim [e125] e130;
  Claim [e125; e126; e130] (Either (Both e131 e127) (Both e132 e129));
  Claim [e125; e129; e126; e130] (Both (AtMost (Num_ 0) e136) (AtMost e136 (Num_ 24)));
  Claim [e125; e129; e126; e130] (Equal (U 1327) (Shift (U 1274) (Low e136 (Num_ 24))));
  Claim [e125; e129; e126; e130] (AtMost e116 (U 1327));
  Claim [e137] e138;
  Claim [e137] e142;
  Claim [e137; e138; e142] (Either (Both e143 e139) (Both e144 e141));
  Claim [e137; e141; e138; e142] (Both (AtMost (Num_ 0) e147) (AtMost e147 (Num_ 24)));
  Claim [e137; e141; e138; e142] (Equal (U 1361) (Shift (U 17) (Low e147 (Num_ 24))));
  Claim [e137; e141; e138; e142] (AtMost e116 (U 1361));
  Claim [e125; e126; e130] e148;
  Claim [e125; e126; e130] (Either (Both (Is 1302) e131) (Both e128 e132));
  Claim [e137; e138; e142] e149;
  Claim [e137; e138; e142] (Either (Both (Is 22) e143) (Both e140 e144));
  Claim [e128; e148; e149] (AtMost e135 e150);
  Claim [e128; e148; e149] (Equal (U 1377) (Minus e150 e135));
  Claim [] (Either (Equal (Times (Shift (U 1384) e151) (Num_ 1)) e152) (Both (Equal (Bits 0 1 (U 1384)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1384) (Num_ 1)) e151) (Num_ 1)) e152) (Less e152 (Times (Shift (Plus (U 1384) (Num_ 1)) e151) (Num_ 1))))));
  Claim [] (AtMost (U 1384) e153);
  Claim [e140; e148; e149] (AtMost e146 e150);
  Claim [e140; e148; e149] (Equal (U 1385) (Minus e150 e146));
  Claim [] (Either (Equal (Times (Shift (U 1392) e154) (Num_ 1)) e155) (Both (Equal (Bits 0 1 (U 1392)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1392) (Num_ 1)) e154) (Num_ 1)) e155) (Less e155 (Times (Shift (Plus (U 1392) (Num_ 1)) e154) (Num_ 1))))));
  Claim [] (AtMost (U 1392) e153);
  Claim [e148; e149] (Either (Both (Negation e128) (Both (Negation e140) e156)) (Either (Both e128 (Equal e135 e150)) (Either (Both e140 (Equal e146 e150)) e157)));
  Claim [e148; e149] e158;
  Claim [(Both (AtMost e159 (Sg 1401)) (AtMost (Sg 1401) e160))] (Equal (Sg 1402) (Sg 1401));
  Claim [(Both (AtMost e161 (Sg 1399)) (AtMost (Sg 1399) e153)); (Both (AtMost e161 (Sg 1400)) (AtMost (Sg 1400) e153))] (Equal (Sg 1401) (Plus (Sg 1399) (Sg 1400)));
  Claim [] (Equal (Sg 1399) (If (Is 1299) (Minus (Num_ 0) (U 1384)) (U 1384)));
  Claim [] (Equal (Sg 1400) (If (Is 12) (Minus (Num_ 0) (U 1392)) (U 1392)));
  Claim [e162; e163; e158] e165;
  Claim [e166; e163; e158] e167;
  Claim [e166; (AtMost e169 e170); e163; e158] (Both (Equal (U 1491) (Shift e171 (Low (Minus e170 e169) (Num_ 24)))) e164);
  Claim [e166; e172; e163; e158] (Both (AtMost e174 e171) (Less e171 (Shift (Plus (U 1491) (Num_ 1)) e173)));
  Claim [e166; e172; e163; e158] (Either (Both (Is 1498) e178) (Both e164 (Negation e178)));
  Claim [] (Either (Both (Is 1524) e182) (Both e183 e184));
  Claim [e184; e185] (Both (Is 1528) (Either (Both (Is 1529) e181) (Both e186 (Negation e181))));
  Claim [e184; e187; e188; e189] (Either (Both (Is 1528) e197) (Both e198 e199));
  Claim [e184; e187; e188; e189] (Either (Both (Is 1529) e202) (Both e186 (Negation e202)));
  Claim [e199; e184; e187; e188; e189] (Equal (U 1504) (If e191 (Num_ 0) (If e196 e203 (If e194 e116 e190))));
  Claim [e199; e184; e187; e188; e189] (Equal e204 (If e191 e122 (If e196 (Num_ 127) (Plus e122 e195))));
  Claim [e207] e208;
  Claim [e207] e212;
  Claim [e207; e208; e212] (Either (Both e213 e209) (Both e214 e211));
  Claim [e207; e211; e208; e212] (Both (AtMost (Num_ 0) e217) (AtMost e217 (Num_ 24)));
  Claim [e207; e211; e208; e212] (Equal (U 1100) (Shift (U 540) (Low e217 (Num_ 24))));
  Claim [e207; e211; e208; e212] (AtMost e116 (U 1100));
  Claim [e220] e221;
  Claim [e220] e225;
  Claim [e220; e221; e225] (Either (Both e226 e222) (Both e227 e224));
  Claim [e220; e224; e221; e225] (Both (AtMost (Num_ 0) e230) (AtMost e230 (Num_ 24)));
  Claim [e220; e224; e221; e225] (Equal (U 1134) (Shift (U 1047) (Low e230 (Num_ 24))));
  Claim [e220; e224; e221; e225] (AtMost e116 (U 1134));
  Claim [e207; e208; e212] e231;
  Claim [e207; e208; e212] (Either (Both (Is 569) e213) (Both e210 e214));
  Claim [e220; e221; e225] e232;
  Claim [e220; e221; e225] (Either (Both (Is 1075) e226) (Both e223 e227));
  Claim [e210; e231; e232] (AtMost e216 e233);
  Claim [e210; e231; e232] (Equal (U 1148) (Minus e233 e216));
  Claim [] (Either (Equal (Times (Shift (U 1155) e234) (Num_ 1)) e235) (Both (Equal (Bits 0 1 (U 1155)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1155) (Num_ 1)) e234) (Num_ 1)) e235) (Less e235 (Times (Shift (Plus (U 1155) (Num_ 1)) e234) (Num_ 1))))));
  Claim [] (AtMost (U 1155) e153);
  Claim [e223; e231; e232] (AtMost e229 e233);
  Claim [e223; e231; e232] (Equal (U 1156) (Minus e233 e229));
  Claim [] (Either (Equal (Times (Shift (U 1163) e236) (Num_ 1)) e237) (Both (Equal (Bits 0 1 (U 1163)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 1163) (Num_ 1)) e236) (Num_ 1)) e237) (Less e237 (Times (Shift (Plus (U 1163) (Num_ 1)) e236) (Num_ 1))))));
  Claim [] (AtMost (U 1163) e153);
  Claim [e231; e232] (Either (Both (Negation e210) (Both (Negation e223) e156)) (Either (Both e210 (Equal e216 e233)) (Either (Both e223 (Equal e229 e233)) e157)));
  Claim [e231; e232] e238;
  Claim [(Both (AtMost e159 (Sg 1172)) (AtMost (Sg 1172) e160))] (Equal (Sg 1173) (Sg 1172));
  Claim [(Both (AtMost e161 (Sg 1170)) (AtMost (Sg 1170) e153)); (Both (AtMost e161 (Sg 1171)) (AtMost (Sg 1171) e153))] (Equal (Sg 1172) (Plus (Sg 1170) (Sg 1171)));
  Claim [] (Equal (Sg 1170) (If (Is 566) (Minus (Num_ 0) (U 1155)) (U 1155)));
  Claim [] (Equal (Sg 1171) (If (Is 1072) (Minus (Num_ 0) (U 1163)) (U 1163)));
  Claim [e239; e240; e238] e242;
  Claim [e243; e240; e238] e244;
  Claim [e243; (AtMost e245 e247); e240; e238] (Both (Equal (U 1261) (Shift e248 (Low (Minus e247 e245) (Num_ 24)))) e241);
  Claim [e243; e249; e240; e238] (Both (AtMost e251 e248) (Less e248 (Shift (Plus (U 1261) (Num_ 1)) e250)));
  Claim [e243; e249; e240; e238] (Either (Both (Is 1268) e255) (Both e241 (Negation e255)));
  Claim [] (Either (Both (Is 1294) e260) (Both e123 e261));
  Claim [e261; e262] (Both (Is 1298) (Either (Both (Is 1299) e259) (Both e179 (Negation e259))));
  Claim [e261; e263; e264; e265] (Either (Both (Is 1298) e272) (Both e124 e273));
  Claim [e261; e263; e264; e265] (Either (Both (Is 1299) e276) (Both e179 (Negation e276)));
  Claim [e273; e261; e263; e264; e265] (Equal (U 1274) (If e267 (Num_ 0) (If e271 e203 (If e269 e116 e266))));
  Claim [e273; e261; e263; e264; e265] (Equal e133 (If e267 e122 (If e271 (Num_ 127) (Plus e122 e270))));
  Claim [e277] e278;
  Claim [e277] e282;
  Claim [e277; e278; e282] (Either (Both e283 e279) (Both e284 e281));
  Claim [e277; e281; e278; e282] (Both (AtMost (Num_ 0) e286) (AtMost e286 (Num_ 22)));
  Claim [e277; e281; e278; e282] (Equal (U 356) (Shift (U 319) (Low e286 (Num_ 22))));
  Claim [e277; e281; e278; e282] (AtMost e287 (U 356));
  Claim [e290] e291;
  Claim [e290] e295;
  Claim [e290; e291; e295] (Either (Both e296 e292) (Both e297 e294));
  Claim [e290; e294; e291; e295] (Both (AtMost (Num_ 0) e300) (AtMost e300 (Num_ 24)));
  Claim [e290; e294; e291; e295] (Equal (U 391) (Shift (U 263) (Low e300 (Num_ 24))));
  Claim [e290; e294; e291; e295] (AtMost e116 (U 391));
  Claim [e277; e278; e282] e301;
  Claim [e277; e278; e282] (Either (Both (Is 323) e283) (Both e280 e284));
  Claim [e290; e291; e295] e302;
  Claim [e290; e291; e295] (Either (Both (Is 287) e296) (Both e293 e297));
  Claim [e280; e301; e302] (AtMost e285 e303);
  Claim [e280; e301; e302] (Equal (U 409) (Minus e303 e285));
  Claim [] (Either (Equal (Times (Shift (U 416) e304) (Num_ 1)) e305) (Both (Equal (Bits 0 1 (U 416)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 416) (Num_ 1)) e304) (Num_ 1)) e305) (Less e305 (Times (Shift (Plus (U 416) (Num_ 1)) e304) (Num_ 1))))));
  Claim [] (AtMost (U 416) e306);
  Claim [e293; e301; e302] (AtMost e299 e303);
  Claim [e293; e301; e302] (Equal (U 417) (Minus e303 e299));
  Claim [] (Either (Equal (Times (Shift (U 424) e307) (Num_ 1)) e308) (Both (Equal (Bits 0 1 (U 424)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 424) (Num_ 1)) e307) (Num_ 1)) e308) (Less e308 (Times (Shift (Plus (U 424) (Num_ 1)) e307) (Num_ 1))))));
  Claim [] (AtMost (U 424) e153);
  Claim [e301; e302] (Either (Both (Negation e280) (Both (Negation e293) e156)) (Either (Both e280 (Equal e285 e303)) (Either (Both e293 (Equal e299 e303)) e157)));
  Claim [e301; e302] e309;
  Claim [(Both (AtMost e310 (Sg 433)) (AtMost (Sg 433) e311))] (Equal (Sg 434) (Sg 433));
  Claim [(Both (AtMost e312 (Sg 431)) (AtMost (Sg 431) e306)); (Both (AtMost e161 (Sg 432)) (AtMost (Sg 432) e153))] (Equal (Sg 433) (Plus (Sg 431) (Sg 432)));
  Claim [] (Equal (Sg 431) (If (Is 318) (Minus (Num_ 0) (U 416)) (U 416)));
  Claim [] (Equal (Sg 432) (If (Is 284) (Minus (Num_ 0) (U 424)) (U 424)));
  Claim [e313; e314; e309] e316;
  Claim [e317; e314; e309] e318;
  Claim [e317; (AtMost e319 e320); e314; e309] (Both (Equal (U 527) (Shift e321 (Low (Minus e320 e319) (Num_ 24)))) e315);
  Claim [e317; e322; e314; e309] (Both (AtMost e324 e321) (Less e321 (Shift (Plus (U 527) (Num_ 1)) e323)));
  Claim [e317; e322; e314; e309] (Either (Both (Is 534) e328) (Both e315 (Negation e328)));
  Claim [] (Either (Both (Is 561) e332) (Both e205 e333));
  Claim [e333; e334] (Both (Is 565) (Either (Both (Is 566) e331) (Both e256 (Negation e331))));
  Claim [e333; e335; e336; e337] (Either (Both (Is 565) e344) (Both e206 e345));
  Claim [e333; e335; e336; e337] (Either (Both (Is 566) e348) (Both e256 (Negation e348)));
  Claim [e345; e333; e335; e336; e337] (Equal (U 540) (If e339 (Num_ 0) (If e343 e203 (If e341 e116 e338))));
  Claim [e345; e333; e335; e336; e337] (Equal e215 (If e339 e122 (If e343 (Num_ 127) (Plus e122 e342))));
  Claim [e349] e350;
  Claim [e349] e354;
  Claim [e349; e350; e354] (Either (Both e355 e351) (Both e356 e353));
  Claim [e349; e353; e350; e354] (Both (AtMost (Num_ 0) e358) (AtMost e358 (Num_ 22)));
  Claim [e349; e353; e350; e354] (Equal (U 109) (Shift (U 67) (Low e358 (Num_ 22))));
  Claim [e349; e353; e350; e354] (AtMost e287 (U 109));
  Claim [e360] e361;
  Claim [e360] e365;
  Claim [e360; e361; e365] e366;
  Claim [e360; e364; e361; e365] e370;
  Claim [e360; e364; e361; e365] e371;
  Claim [e360; e364; e361; e365] e372;
  Claim [e349; e350; e354] e373;
  Claim [e349; e350; e354] (Either (Both (Is 71) e355) (Both e352 e356));
  Claim [e360; e361; e365] e374;
  Claim [e360; e361; e365] e365;
  Claim [e352; e373; e374] (AtMost e357 e375);
  Claim [e352; e373; e374] (Equal (U 133) (Minus e375 e357));
  Claim [] (Either (Equal (Times (Shift (U 140) e376) (Num_ 1)) e377) (Both (Equal (Bits 0 1 (U 140)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 140) (Num_ 1)) e376) (Num_ 1)) e377) (Less e377 (Times (Shift (Plus (U 140) (Num_ 1)) e376) (Num_ 1))))));
  Claim [] (AtMost (U 140) e306);
  Claim [e363; e373; e374] (AtMost e368 e375);
  Claim [e363; e373; e374] (Equal (U 132) (Minus e375 e368));
  Claim [] (Either (Equal (Times (Shift (U 148) e378) (Num_ 1)) e379) (Both (Equal (Bits 0 1 (U 148)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 148) (Num_ 1)) e378) (Num_ 1)) e379) (Less e379 (Times (Shift (Plus (U 148) (Num_ 1)) e378) (Num_ 1))))));
  Claim [] (AtMost (U 148) e153);
  Claim [e373; e374] (Either (Both (Negation e352) e380) (Either (Both e352 (Equal e357 e375)) (Either (Both e363 (Equal e368 e375)) e157)));
  Claim [e373; e374] e381;
  Claim [(Both (AtMost e310 (Sg 156)) (AtMost (Sg 156) e311))] (Equal (Sg 157) (Sg 156));
  Claim [(Both (AtMost e312 (Sg 154)) (AtMost (Sg 154) e306)); (Both (AtMost e161 (Sg 155)) (AtMost (Sg 155) e153))] (Equal (Sg 156) (Plus (Sg 154) (Sg 155)));
  Claim [] (Equal (Sg 154) (If (Is 66) (Minus (Num_ 0) (U 140)) (U 140)));
  Claim [] (Equal (Sg 155) (If (Is 25) (Minus (Num_ 0) (U 148)) (U 148)));
  Claim [e382; e383; e381] e385;
  Claim [e386; e383; e381] e387;
  Claim [e386; (AtMost e388 e389); e383; e381] (Both (Equal (U 248) (Shift e390 (Low (Minus e389 e388) (Num_ 24)))) e384);
  Claim [e386; e391; e383; e381] (Both (AtMost e393 e390) (Less e390 (Shift (Plus (U 248) (Num_ 1)) e392)));
  Claim [e386; e391; e383; e381] (Either (Both (Is 256) e397) (Both e384 (Negation e397)));
  Claim [] (Either (Both (Is 279) e403) (Both e288 e404));
  Claim [e404; e405] (Both (Is 283) (Either (Both (Is 284) e402) (Both e329 (Negation e402))));
  Claim [e404; e406; e407; e408] (Either (Both (Is 283) e415) (Both e289 e416));
  Claim [e404; e406; e407; e408] (Either (Both (Is 284) e421) (Both e329 (Negation e421)));
  Claim [e416; e404; e406; e407; e408] (Equal (U 263) (If e410 (Num_ 0) (If e414 e203 (If e412 e116 e409))));
  Claim [e416; e404; e406; e407; e408] (Equal e298 (If e410 e122 (If e414 (Num_ 127) (Plus e122 e413))));
  Claim [] e423;
  Claim [e422] e423;
  Claim [e422] e423;
  Claim [e422; e422] e424;
  Claim [] e362;
  Claim [e425] e426;
  Claim [e425] e430;
  Claim [e425; e426; e430] (Either (Both e431 e427) (Both e432 e429));
  Claim [e425; e429; e426; e430] (Both (AtMost (Num_ 0) e434) (AtMost e434 (Num_ 22)));
  Claim [e425; e429; e426; e430] (Equal (U 867) (Shift (U 830) (Low e434 (Num_ 22))));
  Claim [e425; e429; e426; e430] (AtMost e287 (U 867));
  Claim [e437] e438;
  Claim [e437] e442;
  Claim [e437; e438; e442] (Either (Both e443 e439) (Both e444 e441));
  Claim [e437; e441; e438; e442] (Both (AtMost (Num_ 0) e447) (AtMost e447 (Num_ 24)));
  Claim [e437; e441; e438; e442] (Equal (U 902) (Shift (U 776) (Low e447 (Num_ 24))));
  Claim [e437; e441; e438; e442] (AtMost e116 (U 902));
  Claim [e425; e426; e430] e448;
  Claim [e425; e426; e430] (Either (Both (Is 834) e431) (Both e428 e432));
  Claim [e437; e438; e442] e449;
  Claim [e437; e438; e442] (Either (Both (Is 798) e443) (Both e440 e444));
  Claim [e428; e448; e449] (AtMost e433 e450);
  Claim [e428; e448; e449] (Equal (U 919) (Minus e450 e433));
  Claim [] (Either (Equal (Times (Shift (U 926) e451) (Num_ 1)) e452) (Both (Equal (Bits 0 1 (U 926)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 926) (Num_ 1)) e451) (Num_ 1)) e452) (Less e452 (Times (Shift (Plus (U 926) (Num_ 1)) e451) (Num_ 1))))));
  Claim [] (AtMost (U 926) e306);
  Claim [e440; e448; e449] (AtMost e446 e450);
  Claim [e440; e448; e449] (Equal (U 927) (Minus e450 e446));
  Claim [] (Either (Equal (Times (Shift (U 934) e453) (Num_ 1)) e454) (Both (Equal (Bits 0 1 (U 934)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 934) (Num_ 1)) e453) (Num_ 1)) e454) (Less e454 (Times (Shift (Plus (U 934) (Num_ 1)) e453) (Num_ 1))))));
  Claim [] (AtMost (U 934) e153);
  Claim [e448; e449] (Either (Both (Negation e428) (Both (Negation e440) e156)) (Either (Both e428 (Equal e433 e450)) (Either (Both e440 (Equal e446 e450)) e157)));
  Claim [e448; e449] e455;
  Claim [(Both (AtMost e310 (Sg 943)) (AtMost (Sg 943) e311))] (Equal (Sg 944) (Sg 943));
  Claim [(Both (AtMost e312 (Sg 941)) (AtMost (Sg 941) e306)); (Both (AtMost e161 (Sg 942)) (AtMost (Sg 942) e153))] (Equal (Sg 943) (Plus (Sg 941) (Sg 942)));
  Claim [] (Equal (Sg 941) (If (Is 829) (Minus (Num_ 0) (U 926)) (U 926)));
  Claim [] (Equal (Sg 942) (If (Is 795) (Minus (Num_ 0) (U 934)) (U 934)));
  Claim [e456; e457; e455] e459;
  Claim [e460; e457; e455] e461;
  Claim [e460; (AtMost e462 e463); e457; e455] (Both (Equal (U 1034) (Shift e464 (Low (Minus e463 e462) (Num_ 24)))) e458);
  Claim [e460; e465; e457; e455] (Both (AtMost e467 e464) (Less e464 (Shift (Plus (U 1034) (Num_ 1)) e466)));
  Claim [e460; e465; e457; e455] (Either (Both (Is 1041) e471) (Both e458 (Negation e471)));
  Claim [] (Either (Both (Is 1067) e475) (Both e218 e476));
  Claim [e476; e477] (Both (Is 1071) (Either (Both (Is 1072) e474) (Both e257 (Negation e474))));
  Claim [e476; e478; e479; e480] (Either (Both (Is 1071) e487) (Both e219 e488));
  Claim [e476; e478; e479; e480] (Either (Both (Is 1072) e491) (Both e257 (Negation e491)));
  Claim [e488; e476; e478; e479; e480] (Equal (U 1047) (If e482 (Num_ 0) (If e486 e203 (If e484 e116 e481))));
  Claim [e488; e476; e478; e479; e480] (Equal e228 (If e482 e122 (If e486 (Num_ 127) (Plus e122 e485))));
  Claim [e492] e493;
  Claim [e492] e497;
  Claim [e492; e493; e497] (Either (Both e498 e494) (Both e499 e496));
  Claim [e492; e496; e493; e497] (Both (AtMost (Num_ 0) e501) (AtMost e501 (Num_ 22)));
  Claim [e492; e496; e493; e497] (Equal (U 638) (Shift (U 601) (Low e501 (Num_ 22))));
  Claim [e492; e496; e493; e497] (AtMost e287 (U 638));
  Claim [e360] e361;
  Claim [e360] e365;
  Claim [e360; e361; e365] e366;
  Claim [e360; e364; e361; e365] e370;
  Claim [e360; e364; e361; e365] e371;
  Claim [e360; e364; e361; e365] e372;
  Claim [e492; e493; e497] e502;
  Claim [e492; e493; e497] (Either (Both (Is 605) e498) (Both e495 e499));
  Claim [e360; e361; e365] e374;
  Claim [e360; e361; e365] e365;
  Claim [e495; e502; e374] (AtMost e500 e503);
  Claim [e495; e502; e374] (Equal (U 654) (Minus e503 e500));
  Claim [] (Either (Equal (Times (Shift (U 661) e504) (Num_ 1)) e505) (Both (Equal (Bits 0 1 (U 661)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 661) (Num_ 1)) e504) (Num_ 1)) e505) (Less e505 (Times (Shift (Plus (U 661) (Num_ 1)) e504) (Num_ 1))))));
  Claim [] (AtMost (U 661) e306);
  Claim [e363; e502; e374] (AtMost e368 e503);
  Claim [e363; e502; e374] (Equal (U 653) (Minus e503 e368));
  Claim [] (Either (Equal (Times (Shift (U 667) e506) (Num_ 1)) e379) (Both (Equal (Bits 0 1 (U 667)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 667) (Num_ 1)) e506) (Num_ 1)) e379) (Less e379 (Times (Shift (Plus (U 667) (Num_ 1)) e506) (Num_ 1))))));
  Claim [] (AtMost (U 667) e153);
  Claim [e502; e374] (Either (Both (Negation e495) e380) (Either (Both e495 (Equal e500 e503)) (Either (Both e363 (Equal e368 e503)) e157)));
  Claim [e502; e374] e507;
  Claim [(Both (AtMost e310 (Sg 675)) (AtMost (Sg 675) e311))] (Equal (Sg 676) (Sg 675));
  Claim [(Both (AtMost e312 (Sg 673)) (AtMost (Sg 673) e306)); (Both (AtMost e161 (Sg 674)) (AtMost (Sg 674) e153))] (Equal (Sg 675) (Plus (Sg 673) (Sg 674)));
  Claim [] (Equal (Sg 673) (If (Is 600) (Minus (Num_ 0) (U 661)) (U 661)));
  Claim [] (Equal (Sg 674) (If (Is 25) (Minus (Num_ 0) (U 667)) (U 667)));
  Claim [e508; e509; e507] e511;
  Claim [e512; e509; e507] e513;
  Claim [e512; (AtMost e514 e515); e509; e507] (Both (Equal (U 763) (Shift e516 (Low (Minus e515 e514) (Num_ 24)))) e510);
  Claim [e512; e517; e509; e507] (Both (AtMost e519 e516) (Less e516 (Shift (Plus (U 763) (Num_ 1)) e518)));
  Claim [e512; e517; e509; e507] (Either (Both (Is 770) e523) (Both e510 (Negation e523)));
  Claim [] (Either (Both (Is 790) e526) (Both e435 e527));
  Claim [e527; e528] (Both (Is 794) (Either (Both (Is 795) e525) (Both e472 (Negation e525))));
  Claim [e527; e529; e530; e531] (Either (Both (Is 794) e538) (Both e436 e539));
  Claim [e527; e529; e530; e531] (Either (Both (Is 795) e542) (Both e472 (Negation e542)));
  Claim [e539; e527; e529; e530; e531] (Equal (U 776) (If e533 (Num_ 0) (If e537 e203 (If e535 e116 e532))));
  Claim [e539; e527; e529; e530; e531] (Equal e445 (If e533 e122 (If e537 (Num_ 127) (Plus e122 e536))));
  Claim [] e423;
  Claim [e422] e423;
  Claim [e422] e423;
  Claim [e422; e422] e424;
  Claim [] e362;
  Claim [(Is 1524)] (Equal (U 1542) (Num_ 2143289344));
  Claim [e183; (Is 1528)] (Equal (U 1542) (Times (Plus e543 (Num_ 2139095040)) (Num_ 1)));
  Claim [e183; e198; e184; e187; e188; e189] (Equal (U 1542) (Times (Plus e543 (If (Less e544 e116) e544 (Plus (Times (Plus e204 (Num_ 127)) e116) (Minus e544 e116)))) (Num_ 1)))].
Lemma checked : unit_ok unit_circuit unit_design plan = true. Proof. vm_compute. reflexivity. Qed.
Lemma claimed : unit_claims unit_circuit unit_design plan = certified. Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v -> v (root plan) = compute unit_design (words_in plan v).
Proof. rewrite <- claimed. exact (words_to_words _ _ _ checked). Qed.
