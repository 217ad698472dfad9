(** arm/fmopa.s.h: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Unit.
Import ListNotations.
Open Scope Z_scope.
Definition unit_circuit : circuit := [
  Node 2 16 Input;
  Node 3 16 Input;
  Node 4 16 Input;
  Node 5 16 Input;
  Node 6 32 Input;
  Node 7 8 (Extract 23 6);
  Node 8 1 (Extract 31 6);
  Node 9 8 (Const 0);
  Node 10 1 (Eq 7 9);
  Node 11 1 (Not 10);
  Node 12 23 (Extract 0 6);
  Node 13 24 (Concat 11 12);
  Node 14 23 (Const 0);
  Node 15 1 (Eq 12 14);
  Node 18 1 (And 10 15);
  Node 19 8 (Const 255);
  Node 20 1 (Eq 7 19);
  Node 21 1 (Const 0);
  Node 22 1 (And 15 20);
  Node 23 1 (Not 15);
  Node 24 1 (And 20 23);
  Node 25 8 (Zext 10);
  Node 26 8 (Or 7 25);
  Node 27 32 (Const 2143289344);
  Node 28 5 (Extract 10 2);
  Node 29 1 (Extract 15 2);
  Node 30 5 (Const 0);
  Node 31 1 (Eq 28 30);
  Node 32 1 (Not 31);
  Node 33 10 (Extract 0 2);
  Node 34 11 (Concat 32 33);
  Node 35 10 (Const 0);
  Node 36 1 (Eq 33 35);
  Node 39 1 (And 31 36);
  Node 40 5 (Const 31);
  Node 41 1 (Eq 28 40);
  Node 42 1 (And 36 41);
  Node 43 1 (Not 36);
  Node 44 1 (And 41 43);
  Node 45 5 (Zext 31);
  Node 46 5 (Or 28 45);
  Node 47 5 (Extract 10 3);
  Node 48 1 (Extract 15 3);
  Node 49 1 (Eq 30 47);
  Node 50 1 (Not 49);
  Node 51 10 (Extract 0 3);
  Node 52 11 (Concat 50 51);
  Node 53 1 (Eq 35 51);
  Node 55 1 (And 49 53);
  Node 56 1 (Eq 40 47);
  Node 57 1 (And 53 56);
  Node 58 1 (Not 53);
  Node 59 1 (And 56 58);
  Node 60 5 (Zext 49);
  Node 61 5 (Or 47 60);
  Node 62 1 (Xor 29 48);
  Node 63 22 (Mul 34 52);
  Node 64 6 (Zext 46);
  Node 65 6 (Zext 61);
  Node 66 6 (Add 64 65);
  Node 67 1 (Or 39 55);
  Node 68 1 (And 42 55);
  Node 69 1 (And 39 57);
  Node 70 1 (Or 68 69);
  Node 71 1 (Or 44 59);
  Node 72 1 (Or 70 71);
  Node 73 1 (Or 42 57);
  Node 74 1 (Not 72);
  Node 75 1 (And 73 74);
  Node 76 5 (Extract 10 4);
  Node 77 1 (Extract 15 4);
  Node 78 1 (Eq 30 76);
  Node 79 1 (Not 78);
  Node 80 10 (Extract 0 4);
  Node 81 11 (Concat 79 80);
  Node 82 1 (Eq 35 80);
  Node 84 1 (And 78 82);
  Node 85 1 (Eq 40 76);
  Node 86 1 (And 82 85);
  Node 87 1 (Not 82);
  Node 88 1 (And 85 87);
  Node 89 5 (Zext 78);
  Node 90 5 (Or 76 89);
  Node 91 5 (Extract 10 5);
  Node 92 1 (Extract 15 5);
  Node 93 1 (Eq 30 91);
  Node 94 1 (Not 93);
  Node 95 10 (Extract 0 5);
  Node 96 11 (Concat 94 95);
  Node 97 1 (Eq 35 95);
  Node 99 1 (And 93 97);
  Node 100 1 (Eq 40 91);
  Node 101 1 (And 97 100);
  Node 102 1 (Not 97);
  Node 103 1 (And 100 102);
  Node 104 5 (Zext 93);
  Node 105 5 (Or 91 104);
  Node 106 1 (Xor 77 92);
  Node 107 22 (Mul 81 96);
  Node 108 6 (Zext 90);
  Node 109 6 (Zext 105);
  Node 110 6 (Add 108 109);
  Node 111 1 (Or 84 99);
  Node 112 1 (And 86 99);
  Node 113 1 (And 84 101);
  Node 114 1 (Or 112 113);
  Node 115 1 (Or 88 103);
  Node 116 1 (Or 114 115);
  Node 117 1 (Or 86 101);
  Node 118 1 (Not 116);
  Node 119 1 (And 117 118);
  Node 120 16 (Extract 6 63);
  Node 121 16 (Const 0);
  Node 122 1 (Eq 120 121);
  Node 123 6 (Extract 0 63);
  Node 124 22 (Concat 123 121);
  Node 125 22 (Ite 122 124 63);
  Node 126 8 (Extract 14 125);
  Node 127 1 (Eq 9 126);
  Node 128 14 (Extract 0 125);
  Node 129 22 (Concat 128 9);
  Node 130 22 (Ite 127 129 125);
  Node 131 4 (Extract 18 130);
  Node 132 4 (Const 0);
  Node 133 1 (Eq 131 132);
  Node 134 18 (Extract 0 130);
  Node 135 22 (Concat 134 132);
  Node 136 22 (Ite 133 135 130);
  Node 137 2 (Extract 20 136);
  Node 138 2 (Const 0);
  Node 139 1 (Eq 137 138);
  Node 140 20 (Extract 0 136);
  Node 141 22 (Concat 140 138);
  Node 142 22 (Ite 139 141 136);
  Node 143 1 (Extract 21 142);
  Node 144 1 (Eq 21 143);
  Node 145 21 (Extract 0 142);
  Node 146 22 (Concat 145 21);
  Node 147 22 (Ite 144 146 142);
  Node 148 2 (Concat 122 127);
  Node 149 3 (Concat 148 133);
  Node 150 4 (Concat 149 139);
  Node 151 5 (Concat 150 144);
  Node 152 7 (Zext 66);
  Node 153 7 (Const 31);
  Node 154 7 (Add 152 153);
  Node 155 7 (Zext 151);
  Node 156 7 (Sub 154 155);
  Node 157 7 (Const 30);
  Node 158 7 (Add 152 157);
  Node 159 7 (Ite 67 158 156);
  Node 160 16 (Extract 6 107);
  Node 161 1 (Eq 121 160);
  Node 162 6 (Extract 0 107);
  Node 163 22 (Concat 162 121);
  Node 164 22 (Ite 161 163 107);
  Node 165 8 (Extract 14 164);
  Node 166 1 (Eq 9 165);
  Node 167 14 (Extract 0 164);
  Node 168 22 (Concat 167 9);
  Node 169 22 (Ite 166 168 164);
  Node 170 4 (Extract 18 169);
  Node 171 1 (Eq 132 170);
  Node 172 18 (Extract 0 169);
  Node 173 22 (Concat 172 132);
  Node 174 22 (Ite 171 173 169);
  Node 175 2 (Extract 20 174);
  Node 176 1 (Eq 138 175);
  Node 177 20 (Extract 0 174);
  Node 178 22 (Concat 177 138);
  Node 179 22 (Ite 176 178 174);
  Node 180 1 (Extract 21 179);
  Node 181 1 (Eq 21 180);
  Node 182 21 (Extract 0 179);
  Node 183 22 (Concat 182 21);
  Node 184 22 (Ite 181 183 179);
  Node 185 2 (Concat 161 166);
  Node 186 3 (Concat 185 171);
  Node 187 4 (Concat 186 176);
  Node 188 5 (Concat 187 181);
  Node 189 7 (Zext 110);
  Node 190 7 (Add 153 189);
  Node 191 7 (Zext 188);
  Node 192 7 (Sub 190 191);
  Node 193 7 (Add 157 189);
  Node 194 7 (Ite 111 193 192);
  Node 195 7 (Const 0);
  Node 196 7 (Ite 67 195 159);
  Node 197 7 (Ite 111 195 194);
  Node 198 1 (Ult 196 197);
  Node 199 7 (Ite 198 197 196);
  Node 200 7 (Sub 199 196);
  Node 201 27 (Concat 147 30);
  Node 202 27 (Lshr 201 200);
  Node 203 27 (Shl 202 200);
  Node 204 1 (Eq 201 203);
  Node 205 1 (Not 204);
  Node 206 27 (Zext 205);
  Node 207 27 (Or 202 206);
  Node 208 7 (Sub 199 197);
  Node 209 27 (Concat 184 30);
  Node 210 27 (Lshr 209 208);
  Node 211 27 (Shl 210 208);
  Node 212 1 (Eq 209 211);
  Node 213 1 (Not 212);
  Node 214 27 (Zext 213);
  Node 215 27 (Or 210 214);
  Node 216 28 (Zext 207);
  Node 217 28 (Neg 216);
  Node 218 28 (Ite 62 217 216);
  Node 219 28 (Zext 215);
  Node 220 28 (Neg 219);
  Node 221 28 (Ite 106 220 219);
  Node 222 29 (Sext 218);
  Node 223 29 (Sext 221);
  Node 224 29 (Add 222 223);
  Node 225 33 (Sext 224);
  Node 228 1 (Extract 32 225);
  Node 229 33 (Neg 225);
  Node 230 33 (Ite 228 229 225);
  Node 231 32 (Extract 0 230);
  Node 232 1 (And 62 106);
  Node 233 33 (Const 0);
  Node 234 1 (Eq 225 233);
  Node 235 1 (Ite 234 232 228);
  Node 236 8 (Zext 199);
  Node 237 8 (Const 71);
  Node 238 8 (Add 236 237);
  Node 239 3 (Extract 5 238);
  Node 240 3 (Const 0);
  Node 241 1 (Eq 239 240);
  Node 242 1 (Not 241);
  Node 243 5 (Extract 0 238);
  Node 244 5 (Ite 242 40 243);
  Node 245 16 (Extract 16 230);
  Node 246 1 (Eq 121 245);
  Node 247 1 (Extract 4 244);
  Node 248 1 (Not 246);
  Node 249 1 (And 247 248);
  Node 250 1 (And 246 247);
  Node 251 16 (Extract 0 230);
  Node 252 32 (Concat 251 121);
  Node 253 32 (Ite 250 252 231);
  Node 254 8 (Extract 24 253);
  Node 255 1 (Eq 9 254);
  Node 256 1 (Extract 3 244);
  Node 257 1 (Or 249 256);
  Node 258 1 (Not 255);
  Node 259 1 (And 256 258);
  Node 260 1 (Or 249 259);
  Node 261 1 (And 255 257);
  Node 262 24 (Extract 0 253);
  Node 263 32 (Concat 262 9);
  Node 264 32 (Ite 261 263 253);
  Node 265 4 (Extract 28 264);
  Node 266 1 (Eq 132 265);
  Node 267 1 (Extract 2 244);
  Node 268 1 (Or 260 267);
  Node 269 1 (Not 266);
  Node 270 1 (And 267 269);
  Node 271 1 (Or 260 270);
  Node 272 1 (And 266 268);
  Node 273 28 (Extract 0 264);
  Node 274 32 (Concat 273 132);
  Node 275 32 (Ite 272 274 264);
  Node 276 2 (Extract 30 275);
  Node 277 1 (Eq 138 276);
  Node 278 1 (Extract 1 244);
  Node 279 1 (Or 271 278);
  Node 280 1 (Not 277);
  Node 281 1 (And 278 280);
  Node 282 1 (Or 271 281);
  Node 283 1 (And 277 279);
  Node 284 30 (Extract 0 275);
  Node 285 32 (Concat 284 138);
  Node 286 32 (Ite 283 285 275);
  Node 287 1 (Extract 31 286);
  Node 288 1 (Eq 21 287);
  Node 289 1 (Extract 0 244);
  Node 290 1 (Or 282 289);
  Node 294 1 (And 288 290);
  Node 295 31 (Extract 0 286);
  Node 296 32 (Concat 295 21);
  Node 297 32 (Ite 294 296 286);
  Node 298 2 (Concat 250 261);
  Node 299 3 (Concat 298 272);
  Node 300 4 (Concat 299 283);
  Node 301 5 (Concat 300 294);
  Node 302 8 (Zext 301);
  Node 303 8 (Sub 238 302);
  Node 304 24 (Extract 8 297);
  Node 305 1 (Extract 7 297);
  Node 306 7 (Extract 0 297);
  Node 307 1 (Eq 195 306);
  Node 308 1 (Not 307);
  Node 309 1 (Extract 8 297);
  Node 310 1 (Or 308 309);
  Node 311 1 (And 305 310);
  Node 312 25 (Zext 304);
  Node 313 25 (Zext 311);
  Node 314 25 (Add 312 313);
  Node 315 1 (Extract 24 314);
  Node 316 24 (Const 8388608);
  Node 317 24 (Extract 0 314);
  Node 318 24 (Ite 315 316 317);
  Node 319 24 (Const 0);
  Node 320 1 (Eq 318 319);
  Node 321 9 (Zext 303);
  Node 322 9 (Zext 315);
  Node 323 9 (Add 321 322);
  Node 324 1 (Not 320);
  Node 325 9 (Const 253);
  Node 326 1 (Ult 325 323);
  Node 327 1 (And 324 326);
  Node 328 9 (Const 0);
  Node 329 9 (Ite 320 328 323);
  Node 330 8 (Extract 0 329);
  Node 331 1 (Not 62);
  Node 332 1 (And 75 331);
  Node 333 1 (Not 106);
  Node 334 1 (And 119 333);
  Node 335 1 (Or 332 334);
  Node 336 1 (And 62 75);
  Node 337 1 (And 106 119);
  Node 338 1 (Or 336 337);
  Node 339 1 (Or 72 116);
  Node 340 1 (And 335 338);
  Node 341 1 (Or 339 340);
  Node 342 1 (Or 335 338);
  Node 343 1 (Or 327 342);
  Node 344 1 (Not 341);
  Node 345 1 (And 343 344);
  Node 346 1 (Ite 342 338 235);
  Node 347 1 (Or 341 342);
  Node 348 1 (Not 347);
  Node 349 1 (And 320 348);
  Node 350 16 (Extract 8 318);
  Node 351 1 (Eq 121 350);
  Node 352 8 (Extract 0 318);
  Node 353 24 (Concat 352 121);
  Node 354 24 (Ite 351 353 318);
  Node 355 8 (Extract 16 354);
  Node 356 1 (Eq 9 355);
  Node 357 16 (Extract 0 354);
  Node 358 24 (Concat 357 9);
  Node 359 24 (Ite 356 358 354);
  Node 360 4 (Extract 20 359);
  Node 361 1 (Eq 132 360);
  Node 362 20 (Extract 0 359);
  Node 363 24 (Concat 362 132);
  Node 364 24 (Ite 361 363 359);
  Node 365 2 (Extract 22 364);
  Node 366 1 (Eq 138 365);
  Node 367 22 (Extract 0 364);
  Node 368 24 (Concat 367 138);
  Node 369 24 (Ite 366 368 364);
  Node 370 1 (Extract 23 369);
  Node 371 1 (Eq 21 370);
  Node 372 23 (Extract 0 369);
  Node 373 24 (Concat 372 21);
  Node 374 24 (Ite 371 373 369);
  Node 375 2 (Concat 351 356);
  Node 376 3 (Concat 375 361);
  Node 377 4 (Concat 376 366);
  Node 378 5 (Concat 377 371);
  Node 379 9 (Zext 330);
  Node 380 9 (Const 31);
  Node 381 9 (Add 379 380);
  Node 382 9 (Zext 378);
  Node 383 9 (Sub 381 382);
  Node 384 9 (Ite 349 381 383);
  Node 385 16 (Extract 8 13);
  Node 386 1 (Eq 121 385);
  Node 387 8 (Extract 0 6);
  Node 388 24 (Concat 387 121);
  Node 389 24 (Ite 386 388 13);
  Node 390 8 (Extract 16 389);
  Node 391 1 (Eq 9 390);
  Node 392 16 (Extract 0 389);
  Node 393 24 (Concat 392 9);
  Node 394 24 (Ite 391 393 389);
  Node 395 4 (Extract 20 394);
  Node 396 1 (Eq 132 395);
  Node 397 20 (Extract 0 394);
  Node 398 24 (Concat 397 132);
  Node 399 24 (Ite 396 398 394);
  Node 400 2 (Extract 22 399);
  Node 401 1 (Eq 138 400);
  Node 402 22 (Extract 0 399);
  Node 403 24 (Concat 402 138);
  Node 404 24 (Ite 401 403 399);
  Node 405 1 (Extract 23 404);
  Node 406 1 (Eq 21 405);
  Node 407 23 (Extract 0 404);
  Node 408 24 (Concat 407 21);
  Node 409 24 (Ite 406 408 404);
  Node 410 2 (Concat 386 391);
  Node 411 3 (Concat 410 396);
  Node 412 4 (Concat 411 401);
  Node 413 5 (Concat 412 406);
  Node 414 9 (Zext 26);
  Node 415 9 (Add 380 414);
  Node 416 9 (Zext 413);
  Node 417 9 (Sub 415 416);
  Node 418 9 (Ite 18 415 417);
  Node 419 9 (Const 1);
  Node 420 9 (Add 384 419);
  Node 421 9 (Ite 349 328 420);
  Node 422 9 (Ite 18 328 418);
  Node 423 1 (Ult 421 422);
  Node 424 9 (Ite 423 422 421);
  Node 425 9 (Sub 424 421);
  Node 426 27 (Concat 374 240);
  Node 427 27 (Lshr 426 425);
  Node 428 27 (Shl 427 425);
  Node 429 1 (Eq 426 428);
  Node 430 1 (Not 429);
  Node 431 27 (Zext 430);
  Node 432 27 (Or 427 431);
  Node 433 9 (Sub 424 422);
  Node 434 27 (Concat 409 240);
  Node 435 27 (Lshr 434 433);
  Node 436 27 (Shl 435 433);
  Node 437 1 (Eq 434 436);
  Node 438 1 (Not 437);
  Node 439 27 (Zext 438);
  Node 440 27 (Or 435 439);
  Node 441 28 (Zext 432);
  Node 442 28 (Neg 441);
  Node 443 28 (Ite 346 442 441);
  Node 444 28 (Zext 440);
  Node 445 28 (Neg 444);
  Node 446 28 (Ite 8 445 444);
  Node 447 29 (Sext 443);
  Node 448 29 (Sext 446);
  Node 449 29 (Add 447 448);
  Node 450 33 (Sext 449);
  Node 453 1 (Extract 32 450);
  Node 454 33 (Neg 450);
  Node 455 33 (Ite 453 454 450);
  Node 456 32 (Extract 0 455);
  Node 457 1 (And 8 346);
  Node 458 1 (Eq 233 450);
  Node 459 1 (Ite 458 457 453);
  Node 460 9 (Const 27);
  Node 461 1 (Ult 424 460);
  Node 462 9 (Sub 460 424);
  Node 463 9 (Ite 461 462 328);
  Node 464 9 (Const 32);
  Node 465 1 (Ult 463 464);
  Node 466 9 (Ite 465 463 464);
  Node 467 6 (Extract 0 466);
  Node 468 32 (Lshr 456 467);
  Node 469 32 (Shl 468 467);
  Node 470 1 (Eq 456 469);
  Node 471 1 (Not 470);
  Node 472 32 (Zext 471);
  Node 473 32 (Or 468 472);
  Node 474 9 (Ite 461 460 424);
  Node 475 9 (Sub 474 460);
  Node 476 4 (Extract 5 475);
  Node 477 1 (Eq 132 476);
  Node 478 1 (Not 477);
  Node 479 5 (Extract 0 475);
  Node 480 5 (Ite 478 40 479);
  Node 481 16 (Extract 16 473);
  Node 482 1 (Eq 121 481);
  Node 483 1 (Extract 4 480);
  Node 484 1 (Not 482);
  Node 485 1 (And 483 484);
  Node 486 1 (And 482 483);
  Node 487 16 (Extract 0 473);
  Node 488 32 (Concat 487 121);
  Node 489 32 (Ite 486 488 473);
  Node 490 8 (Extract 24 489);
  Node 491 1 (Eq 9 490);
  Node 492 1 (Extract 3 480);
  Node 493 1 (Or 485 492);
  Node 494 1 (Not 491);
  Node 495 1 (And 492 494);
  Node 496 1 (Or 485 495);
  Node 497 1 (And 491 493);
  Node 498 24 (Extract 0 489);
  Node 499 32 (Concat 498 9);
  Node 500 32 (Ite 497 499 489);
  Node 501 4 (Extract 28 500);
  Node 502 1 (Eq 132 501);
  Node 503 1 (Extract 2 480);
  Node 504 1 (Or 496 503);
  Node 505 1 (Not 502);
  Node 506 1 (And 503 505);
  Node 507 1 (Or 496 506);
  Node 508 1 (And 502 504);
  Node 509 28 (Extract 0 500);
  Node 510 32 (Concat 509 132);
  Node 511 32 (Ite 508 510 500);
  Node 512 2 (Extract 30 511);
  Node 513 1 (Eq 138 512);
  Node 514 1 (Extract 1 480);
  Node 515 1 (Or 507 514);
  Node 516 1 (Not 513);
  Node 517 1 (And 514 516);
  Node 518 1 (Or 507 517);
  Node 519 1 (And 513 515);
  Node 520 30 (Extract 0 511);
  Node 521 32 (Concat 520 138);
  Node 522 32 (Ite 519 521 511);
  Node 523 1 (Extract 31 522);
  Node 524 1 (Eq 21 523);
  Node 525 1 (Extract 0 480);
  Node 526 1 (Or 518 525);
  Node 530 1 (And 524 526);
  Node 531 31 (Extract 0 522);
  Node 532 32 (Concat 531 21);
  Node 533 32 (Ite 530 532 522);
  Node 534 2 (Concat 486 497);
  Node 535 3 (Concat 534 508);
  Node 536 4 (Concat 535 519);
  Node 537 5 (Concat 536 530);
  Node 538 9 (Zext 537);
  Node 539 9 (Sub 475 538);
  Node 540 24 (Extract 8 533);
  Node 541 1 (Extract 7 533);
  Node 542 7 (Extract 0 533);
  Node 543 1 (Eq 195 542);
  Node 544 1 (Not 543);
  Node 545 1 (Extract 8 533);
  Node 546 1 (Or 544 545);
  Node 547 1 (And 541 546);
  Node 548 25 (Zext 540);
  Node 549 25 (Zext 547);
  Node 550 25 (Add 548 549);
  Node 551 1 (Extract 24 550);
  Node 552 24 (Extract 0 550);
  Node 553 24 (Ite 551 316 552);
  Node 554 1 (Eq 319 553);
  Node 555 10 (Zext 539);
  Node 556 10 (Zext 551);
  Node 557 10 (Add 555 556);
  Node 558 1 (Not 554);
  Node 559 10 (Const 253);
  Node 560 1 (Ult 559 557);
  Node 561 1 (And 558 560);
  Node 562 10 (Ite 554 35 557);
  Node 563 8 (Extract 0 562);
  Node 564 1 (Not 346);
  Node 565 1 (And 345 564);
  Node 566 1 (Not 8);
  Node 567 1 (And 22 566);
  Node 568 1 (Or 565 567);
  Node 569 1 (And 345 346);
  Node 570 1 (And 8 22);
  Node 571 1 (Or 569 570);
  Node 572 1 (Or 24 341);
  Node 573 1 (And 568 571);
  Node 574 1 (Or 572 573);
  Node 575 1 (Or 568 571);
  Node 576 1 (Or 561 575);
  Node 577 1 (Not 574);
  Node 578 1 (And 576 577);
  Node 579 1 (Ite 575 571 459);
  Node 583 1 (Extract 23 553);
  Node 584 8 (Zext 583);
  Node 585 8 (Add 563 584);
  Node 586 23 (Extract 0 553);
  Node 587 31 (Concat 585 586);
  Node 588 32 (Concat 579 587);
  Node 589 31 (Const 2139095040);
  Node 590 32 (Concat 579 589);
  Node 591 32 (Ite 578 590 588);
  Node 592 32 (Ite 574 27 591)].
Definition unit_design : design := {| a_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; b_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; c_format := {| ebits := 8; fbits := 23; bias := 127; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; d_format := {| ebits := 8; fbits := 23; bias := 127; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; scales := None; converted := None; factors := {| of_a := Kept; of_b := Kept; normalise_factors := false; exponent_step := 1; zero_terms := None; odd_negated := false; product_limit := None; product_rounding := None |}; cutting_of := Whole; block := 2%nat; odd_first := false; skips := false; c_rule := Kept; sums := CLast Together (Stage {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}) (Stage {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 23; emin := (-126); emax := 127; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}); nan_word := 0x7fc00000; nans := OneWord; composed := None |}.
Definition plan : unit_plan := UnitPlan [2; 4]%positive [3; 5]%positive 6 []%positive
 [LeafPlan None [(Some 34%positive); (Some 52%positive)] (Number 62 63 66 (-30) 20 72 75);
  LeafPlan None [(Some 81%positive); (Some 96%positive)] (Number 106 107 110 (-30) 20 116 119)]
 (Number 8 13 26 (-127) 23 24 22) (Some 13%positive) (Number 8 13 26 (-127) 23 24 22)
 [BlockPlan (Number 8 13 26 (-127) 23 24 22) (Sum (Two 26 [Operand (Number 346 318 330 (-126) 23 341 345) 349 253; Operand (Number 8 13 26 (-127) 23 24 22) 18 255] (Fused [Addend (Number 346 374 384 (-157) 23 341 345) 349 425 432 134217721 284; Addend (Number 8 409 418 (-158) 23 24 22) 18 433 440 134217721 286] 424 (-158) 286 (Partial 449 (Leaf 447 0%nat) (Leaf 448 1%nat)) 450 (Ending 540 547 539 (Number 579 553 563 (-126) 23 574 578)))) None [(Sum (Two 26 [Operand (Number 62 63 66 (-30) 20 72 75) 67 62; Operand (Number 106 107 110 (-30) 20 116 119) 111 62] (Fused [Addend (Number 62 147 159 (-60) 21 72 75) 67 200 207 134217697 93; Addend (Number 106 184 194 (-60) 21 116 119) 111 208 215 134217697 93] 199 (-60) 93 (Partial 224 (Leaf 222 0%nat) (Leaf 223 1%nat)) 225 (Ending 304 311 303 (Number 346 318 330 (-126) 23 341 345)))) None [(At (Number 62 63 66 (-30) 20 72 75)); (At (Number 106 107 110 (-30) 20 116 119))]); (At (Number 8 13 26 (-127) 23 24 22))])]
 None 592.
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
Definition e16 := (Negation (Is 72)).
Definition e17 := (Negation e15).
Definition e18 := (Either (Both e1 e3) e12).
Definition e19 := (Negation (Is 75)).
Definition e20 := (Negation e18).
Definition e21 := (Equal (Bits 15 1 (U 2)) (Num_ 1)).
Definition e22 := (Equal (Bits 15 1 (U 3)) (Num_ 1)).
Definition e23 := (Negation (Either (Both e21 e22) (Both (Negation e21) (Negation e22)))).
Definition e24 := (Negation (Is 62)).
Definition e25 := (Plus (U 66) (Num_ (-30))).
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
Definition e43 := (Negation (Is 116)).
Definition e44 := (Negation e42).
Definition e45 := (Either e31 e39).
Definition e46 := (Negation (Is 119)).
Definition e47 := (Negation e45).
Definition e48 := (Equal (Bits 15 1 (U 4)) (Num_ 1)).
Definition e49 := (Equal (Bits 15 1 (U 5)) (Num_ 1)).
Definition e50 := (Negation (Either (Both e48 e49) (Both (Negation e48) (Negation e49)))).
Definition e51 := (Negation (Is 106)).
Definition e52 := (Plus (U 110) (Num_ (-30))).
Definition e53 := (Bits 23 8 (U 6)).
Definition e54 := (Equal e53 (Num_ 255)).
Definition e55 := (Bits 0 23 (U 6)).
Definition e56 := (Equal e55 (Num_ 0)).
Definition e57 := (Both e54 (Negation e56)).
Definition e58 := (Negation e57).
Definition e59 := (Both e54 e56).
Definition e60 := (Negation e59).
Definition e61 := (Equal e53 (Num_ 0)).
Definition e62 := (Num_ 8388608).
Definition e63 := (Negation (Is 24)).
Definition e64 := (Negation (Is 22)).
Definition e65 := (Equal (Bits 31 1 (U 6)) (Num_ 1)).
Definition e66 := (Negation (Is 8)).
Definition e67 := (Plus (U 26) (Num_ (-127))).
Definition e68 := (Num_ (-126)).
Definition e69 := (Negation (Is 341)).
Definition e70 := (Negation (Is 345)).
Definition e71 := (Both e69 e70).
Definition e72 := (AtMost (U 330) (Num_ 253)).
Definition e73 := (Equal (U 318) (Num_ 0)).
Definition e74 := (Negation (Is 349)).
Definition e75 := (Negation e73).
Definition e76 := (Either (Both (Is 349) e73) (Both e74 e75)).
Definition e77 := (Equal (U 374) (Num_ 0)).
Definition e78 := (Negation e77).
Definition e79 := (Plus (U 330) e68).
Definition e80 := (Plus (U 384) (Num_ (-157))).
Definition e81 := (Plus (Minus e79 e80) (Num_ 0)).
Definition e82 := (Both e63 e64).
Definition e83 := (AtMost (U 26) (Num_ 255)).
Definition e84 := (Equal (U 13) (Num_ 0)).
Definition e85 := (Negation (Is 18)).
Definition e86 := (Negation e84).
Definition e87 := (Either (Both (Is 18) e84) (Both e85 e86)).
Definition e88 := (Equal (U 409) (Num_ 0)).
Definition e89 := (Negation e88).
Definition e90 := (Num_ (-158)).
Definition e91 := (Plus (U 418) e90).
Definition e92 := (Plus (Minus e67 e91) (Num_ 0)).
Definition e93 := (AtMost (U 384) (Num_ 284)).
Definition e94 := (AtMost (U 418) (Num_ 286)).
Definition e95 := (Plus (U 424) e90).
Definition e96 := (Low (U 425) (Num_ 27)).
Definition e97 := (Times (U 374) (Num_ 8)).
Definition e98 := (Num_ 134217721).
Definition e99 := (Low (U 433) (Num_ 27)).
Definition e100 := (Times (U 409) (Num_ 8)).
Definition e101 := (Equal (Num_ 0) (Num_ 0)).
Definition e102 := (Negation e101).
Definition e103 := (AtMost (U 424) (Num_ 286)).
Definition e104 := (Num_ (-268435442)).
Definition e105 := (Num_ 268435442).
Definition e106 := (Num_ (-134217721)).
Definition e107 := (Equal (Sg 450) (Num_ 0)).
Definition e108 := (Both (AtMost e104 (Sg 450)) (AtMost (Sg 450) e105)).
Definition e109 := (Negation (Is 547)).
Definition e110 := (Both (Equal (U 540) (Num_ 0)) e109).
Definition e111 := (Negation e107).
Definition e112 := (Either (AtMost e62 (U 540)) (Equal (U 539) (Num_ 0))).
Definition e113 := (Num_ (-149)).
Definition e114 := (Plus (U 539) e113).
Definition e115 := (Plus (U 424) (Num_ (-184))).
Definition e116 := (Abs (Sg 450)).
Definition e117 := (Less e115 e114).
Definition e118 := (Low (Minus e114 e115) (Num_ 30)).
Definition e119 := (Shift (U 540) e118).
Definition e120 := (Shift (Num_ 1) e118).
Definition e121 := (Minus e116 e119).
Definition e122 := (Plus e121 e121).
Definition e123 := (Either (Less e120 e122) (Both (Equal e120 e122) (Equal (Bits 0 1 (U 540)) (Num_ 1)))).
Definition e124 := (Negation (Is 346)).
Definition e125 := (Either (Both (Is 345) e124) (Either (Both (Is 22) e66) e102)).
Definition e126 := (Either (Both (Is 345) (Is 346)) (Either (Both (Is 22) (Is 8)) e102)).
Definition e127 := (Either (Either (Is 341) (Either (Is 24) e102)) (Both e125 e126)).
Definition e128 := (Negation (Is 574)).
Definition e129 := (Negation e127).
Definition e130 := (Either e125 e126).
Definition e131 := (Negation (Is 579)).
Definition e132 := (Negation e130).
Definition e133 := (Either e111 e110).
Definition e134 := (Either e107 e112).
Definition e135 := (Plus (U 540) (If (Is 547) (Num_ 1) (Num_ 0))).
Definition e136 := (Either (Equal e135 (Num_ 0)) e102).
Definition e137 := (Negation e136).
Definition e138 := (Num_ 16777216).
Definition e139 := (AtMost e138 e135).
Definition e140 := (Plus (U 539) (If e139 (Num_ 1) (Num_ 0))).
Definition e141 := (Both (AtMost e62 e135) (Less (Num_ 253) e140)).
Definition e142 := (Both e137 (Both e141 e101)).
Definition e143 := (Negation (Is 578)).
Definition e144 := (Negation e142).
Definition e145 := (Less (Sg 450) (Num_ 0)).
Definition e146 := (Both (Both (Equal (U 432) (Num_ 0)) (Both (Equal (U 440) (Num_ 0)) e101)) (Either (Both (Is 346) (Both (Is 8) e101)) (Both e124 (Both e66 e101)))).
Definition e147 := (Either (Both e136 (Either (Both e111 e145) (Both e107 (Either (Both e146 (Either (Is 346) (Either (Is 8) e102))) (Both (Negation e146) e102))))) (Both e137 e145)).
Definition e148 := (Num_ 16777215).
Definition e149 := (Plus (U 563) e68).
Definition e150 := (Both e16 e19).
Definition e151 := (AtMost (U 66) (Num_ 62)).
Definition e152 := (Equal (U 63) (Num_ 0)).
Definition e153 := (Negation (Is 67)).
Definition e154 := (Negation e152).
Definition e155 := (Either (Both (Is 67) e152) (Both e153 e154)).
Definition e156 := (Equal (U 147) (Num_ 0)).
Definition e157 := (Negation e156).
Definition e158 := (Plus (U 159) (Num_ (-60))).
Definition e159 := (Plus (Minus e25 e158) (Num_ 1)).
Definition e160 := (Num_ 2097152).
Definition e161 := (Both e43 e46).
Definition e162 := (AtMost (U 110) (Num_ 62)).
Definition e163 := (Equal (U 107) (Num_ 0)).
Definition e164 := (Negation (Is 111)).
Definition e165 := (Negation e163).
Definition e166 := (Either (Both (Is 111) e163) (Both e164 e165)).
Definition e167 := (Equal (U 184) (Num_ 0)).
Definition e168 := (Negation e167).
Definition e169 := (Plus (U 194) (Num_ (-60))).
Definition e170 := (Plus (Minus e52 e169) (Num_ 1)).
Definition e171 := (AtMost (U 159) (Num_ 93)).
Definition e172 := (AtMost (U 194) (Num_ 93)).
Definition e173 := (Plus (U 199) (Num_ (-60))).
Definition e174 := (Low (U 200) (Num_ 27)).
Definition e175 := (Times (U 147) (Num_ 32)).
Definition e176 := (Num_ 134217697).
Definition e177 := (Low (U 208) (Num_ 27)).
Definition e178 := (Times (U 184) (Num_ 32)).
Definition e179 := (AtMost (U 199) (Num_ 93)).
Definition e180 := (Num_ (-268435394)).
Definition e181 := (Num_ 268435394).
Definition e182 := (Num_ (-134217697)).
Definition e183 := (Equal (Sg 225) (Num_ 0)).
Definition e184 := (Both (AtMost e180 (Sg 225)) (AtMost (Sg 225) e181)).
Definition e185 := (Negation (Is 311)).
Definition e186 := (Both (Equal (U 304) (Num_ 0)) e185).
Definition e187 := (Negation e183).
Definition e188 := (Either (AtMost e62 (U 304)) (Equal (U 303) (Num_ 0))).
Definition e189 := (Plus (U 303) e113).
Definition e190 := (Plus (U 199) (Num_ (-86))).
Definition e191 := (Abs (Sg 225)).
Definition e192 := (Less e190 e189).
Definition e193 := (Low (Minus e189 e190) (Num_ 30)).
Definition e194 := (Shift (U 304) e193).
Definition e195 := (Shift (Num_ 1) e193).
Definition e196 := (Minus e191 e194).
Definition e197 := (Plus e196 e196).
Definition e198 := (Either (Less e195 e197) (Both (Equal e195 e197) (Equal (Bits 0 1 (U 304)) (Num_ 1)))).
Definition e199 := (Either (Both (Is 75) e24) (Either (Both (Is 119) e51) e102)).
Definition e200 := (Either (Both (Is 75) (Is 62)) (Either (Both (Is 119) (Is 106)) e102)).
Definition e201 := (Either (Either (Is 72) (Either (Is 116) e102)) (Both e199 e200)).
Definition e202 := (Negation e201).
Definition e203 := (Either e199 e200).
Definition e204 := (Negation e203).
Definition e205 := (Either e187 e186).
Definition e206 := (Either e183 e188).
Definition e207 := (Plus (U 304) (If (Is 311) (Num_ 1) (Num_ 0))).
Definition e208 := (Either (Equal e207 (Num_ 0)) e102).
Definition e209 := (Negation e208).
Definition e210 := (AtMost e138 e207).
Definition e211 := (Plus (U 303) (If e210 (Num_ 1) (Num_ 0))).
Definition e212 := (Both (AtMost e62 e207) (Less (Num_ 253) e211)).
Definition e213 := (Both e209 (Both e212 e101)).
Definition e214 := (Negation e213).
Definition e215 := (Less (Sg 225) (Num_ 0)).
Definition e216 := (Both (Both (Equal (U 207) (Num_ 0)) (Both (Equal (U 215) (Num_ 0)) e101)) (Either (Both (Is 62) (Both (Is 106) e101)) (Both e24 (Both e51 e101)))).
Definition e217 := (Either (Both e208 (Either (Both e187 e215) (Both e183 (Either (Both e216 (Either (Is 62) (Either (Is 106) e102))) (Both (Negation e216) e102))))) (Both e209 e215)).
Definition e218 := (If (Is 579) (Num_ 2147483648) (Num_ 0)).
Definition e219 := (Times (U 553) (Num_ 1)).
Definition certified : list claim := [
  Claim [(Negation e4); (Negation (Both e1 e3))] (Equal (U 34) e6);
  Claim [(Negation e11); (Negation e12)] (Equal (U 52) e14);
  Claim [] (Either (Both (Is 72) e15) (Both e16 e17));
  Claim [e17] (Either (Both (Is 75) e18) (Both e19 e20));
  Claim [e17] (Either (Both (Is 62) e23) (Both e24 (Negation e23)));
  Claim [e17; e20] (Equal e25 (Plus (If e5 (Num_ (-14)) (Minus e0 (Num_ 15))) (If e13 (Num_ (-14)) (Minus e7 (Num_ 15)))));
  Claim [] (Equal (U 63) (Times (U 34) (U 52)));
  Claim [(Negation e30); (Negation e31)] (Equal (U 81) e33);
  Claim [(Negation e38); (Negation e39)] (Equal (U 96) e41);
  Claim [] (Either (Both (Is 116) e42) (Both e43 e44));
  Claim [e44] (Either (Both (Is 119) e45) (Both e46 e47));
  Claim [e44] (Either (Both (Is 106) e50) (Both e51 (Negation e50)));
  Claim [e44; e47] (Equal e52 (Plus (If e32 (Num_ (-14)) (Minus e26 (Num_ 15))) (If e40 (Num_ (-14)) (Minus e34 (Num_ 15)))));
  Claim [] (Equal (U 107) (Times (U 81) (U 96)));
  Claim [e58; e60] (Equal (U 13) (If e61 e55 (Plus e55 e62)));
  Claim [] (Either (Both (Is 24) e57) (Both e63 e58));
  Claim [e58] (Either (Both (Is 22) e59) (Both e64 e60));
  Claim [e58] (Either (Both (Is 8) e65) (Both e66 (Negation e65)));
  Claim [e58; e60] (Equal e67 (If e61 e68 (Minus e53 (Num_ 127))));
  Claim [] (Equal (U 13) (U 13));
  Claim [e71] e72;
  Claim [e71] e76;
  Claim [e71; e72; e76] (Either (Both e77 e73) (Both e78 e75));
  Claim [e71; e75; e72; e76] (Both (AtMost (Num_ 0) e81) (AtMost e81 (Num_ 24)));
  Claim [e71; e75; e72; e76] (Equal (U 374) (Shift (U 318) (Low e81 (Num_ 24))));
  Claim [e71; e75; e72; e76] (AtMost e62 (U 374));
  Claim [e82] e83;
  Claim [e82] e87;
  Claim [e82; e83; e87] (Either (Both e88 e84) (Both e89 e86));
  Claim [e82; e86; e83; e87] (Both (AtMost (Num_ 0) e92) (AtMost e92 (Num_ 24)));
  Claim [e82; e86; e83; e87] (Equal (U 409) (Shift (U 13) (Low e92 (Num_ 24))));
  Claim [e82; e86; e83; e87] (AtMost e62 (U 409));
  Claim [e71; e72; e76] e93;
  Claim [e71; e72; e76] (Either (Both (Is 349) e77) (Both e74 e78));
  Claim [e82; e83; e87] e94;
  Claim [e82; e83; e87] (Either (Both (Is 18) e88) (Both e85 e89));
  Claim [e74; e93; e94] (AtMost e80 e95);
  Claim [e74; e93; e94] (Equal (U 425) (Minus e95 e80));
  Claim [] (Either (Equal (Times (Shift (U 432) e96) (Num_ 1)) e97) (Both (Equal (Bits 0 1 (U 432)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 432) (Num_ 1)) e96) (Num_ 1)) e97) (Less e97 (Times (Shift (Plus (U 432) (Num_ 1)) e96) (Num_ 1))))));
  Claim [] (AtMost (U 432) e98);
  Claim [e85; e93; e94] (AtMost e91 e95);
  Claim [e85; e93; e94] (Equal (U 433) (Minus e95 e91));
  Claim [] (Either (Equal (Times (Shift (U 440) e99) (Num_ 1)) e100) (Both (Equal (Bits 0 1 (U 440)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 440) (Num_ 1)) e99) (Num_ 1)) e100) (Less e100 (Times (Shift (Plus (U 440) (Num_ 1)) e99) (Num_ 1))))));
  Claim [] (AtMost (U 440) e98);
  Claim [e93; e94] (Either (Both (Negation e74) (Both (Negation e85) e101)) (Either (Both e74 (Equal e80 e95)) (Either (Both e85 (Equal e91 e95)) e102)));
  Claim [e93; e94] e103;
  Claim [(Both (AtMost e104 (Sg 449)) (AtMost (Sg 449) e105))] (Equal (Sg 450) (Sg 449));
  Claim [(Both (AtMost e106 (Sg 447)) (AtMost (Sg 447) e98)); (Both (AtMost e106 (Sg 448)) (AtMost (Sg 448) e98))] (Equal (Sg 449) (Plus (Sg 447) (Sg 448)));
  Claim [] (Equal (Sg 447) (If (Is 346) (Minus (Num_ 0) (U 432)) (U 432)));
  Claim [] (Equal (Sg 448) (If (Is 8) (Minus (Num_ 0) (U 440)) (U 440)));
  Claim [e107; e108; e103] e110;
  Claim [e111; e108; e103] e112;
  Claim [e111; (AtMost e114 e115); e108; e103] (Both (Equal (U 540) (Shift e116 (Low (Minus e115 e114) (Num_ 24)))) e109);
  Claim [e111; e117; e108; e103] (Both (AtMost e119 e116) (Less e116 (Shift (Plus (U 540) (Num_ 1)) e118)));
  Claim [e111; e117; e108; e103] (Either (Both (Is 547) e123) (Both e109 (Negation e123)));
  Claim [] (Either (Both (Is 574) e127) (Both e128 e129));
  Claim [e129; e130] (Both (Is 578) (Either (Both (Is 579) e126) (Both e131 (Negation e126))));
  Claim [e129; e132; e133; e134] (Either (Both (Is 578) e142) (Both e143 e144));
  Claim [e129; e132; e133; e134] (Either (Both (Is 579) e147) (Both e131 (Negation e147)));
  Claim [e144; e129; e132; e133; e134] (Equal (U 553) (If e136 (Num_ 0) (If e141 e148 (If e139 e62 e135))));
  Claim [e144; e129; e132; e133; e134] (Equal e149 (If e136 e68 (If e141 (Num_ 127) (Plus e68 e140))));
  Claim [e150] e151;
  Claim [e150] e155;
  Claim [e150; e151; e155] (Either (Both e156 e152) (Both e157 e154));
  Claim [e150; e154; e151; e155] (Both (AtMost (Num_ 0) e159) (AtMost e159 (Num_ 22)));
  Claim [e150; e154; e151; e155] (Equal (U 147) (Shift (U 63) (Low e159 (Num_ 22))));
  Claim [e150; e154; e151; e155] (AtMost e160 (U 147));
  Claim [e161] e162;
  Claim [e161] e166;
  Claim [e161; e162; e166] (Either (Both e167 e163) (Both e168 e165));
  Claim [e161; e165; e162; e166] (Both (AtMost (Num_ 0) e170) (AtMost e170 (Num_ 22)));
  Claim [e161; e165; e162; e166] (Equal (U 184) (Shift (U 107) (Low e170 (Num_ 22))));
  Claim [e161; e165; e162; e166] (AtMost e160 (U 184));
  Claim [e150; e151; e155] e171;
  Claim [e150; e151; e155] (Either (Both (Is 67) e156) (Both e153 e157));
  Claim [e161; e162; e166] e172;
  Claim [e161; e162; e166] (Either (Both (Is 111) e167) (Both e164 e168));
  Claim [e153; e171; e172] (AtMost e158 e173);
  Claim [e153; e171; e172] (Equal (U 200) (Minus e173 e158));
  Claim [] (Either (Equal (Times (Shift (U 207) e174) (Num_ 1)) e175) (Both (Equal (Bits 0 1 (U 207)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 207) (Num_ 1)) e174) (Num_ 1)) e175) (Less e175 (Times (Shift (Plus (U 207) (Num_ 1)) e174) (Num_ 1))))));
  Claim [] (AtMost (U 207) e176);
  Claim [e164; e171; e172] (AtMost e169 e173);
  Claim [e164; e171; e172] (Equal (U 208) (Minus e173 e169));
  Claim [] (Either (Equal (Times (Shift (U 215) e177) (Num_ 1)) e178) (Both (Equal (Bits 0 1 (U 215)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 215) (Num_ 1)) e177) (Num_ 1)) e178) (Less e178 (Times (Shift (Plus (U 215) (Num_ 1)) e177) (Num_ 1))))));
  Claim [] (AtMost (U 215) e176);
  Claim [e171; e172] (Either (Both (Negation e153) (Both (Negation e164) e101)) (Either (Both e153 (Equal e158 e173)) (Either (Both e164 (Equal e169 e173)) e102)));
  Claim [e171; e172] e179;
  Claim [(Both (AtMost e180 (Sg 224)) (AtMost (Sg 224) e181))] (Equal (Sg 225) (Sg 224));
  Claim [(Both (AtMost e182 (Sg 222)) (AtMost (Sg 222) e176)); (Both (AtMost e182 (Sg 223)) (AtMost (Sg 223) e176))] (Equal (Sg 224) (Plus (Sg 222) (Sg 223)));
  Claim [] (Equal (Sg 222) (If (Is 62) (Minus (Num_ 0) (U 207)) (U 207)));
  Claim [] (Equal (Sg 223) (If (Is 106) (Minus (Num_ 0) (U 215)) (U 215)));
  Claim [e183; e184; e179] e186;
  Claim [e187; e184; e179] e188;
  Claim [e187; (AtMost e189 e190); e184; e179] (Both (Equal (U 304) (Shift e191 (Low (Minus e190 e189) (Num_ 24)))) e185);
  Claim [e187; e192; e184; e179] (Both (AtMost e194 e191) (Less e191 (Shift (Plus (U 304) (Num_ 1)) e193)));
  Claim [e187; e192; e184; e179] (Either (Both (Is 311) e198) (Both e185 (Negation e198)));
  Claim [] (Either (Both (Is 341) e201) (Both e69 e202));
  Claim [e202; e203] (Both (Is 345) (Either (Both (Is 346) e200) (Both e124 (Negation e200))));
  Claim [e202; e204; e205; e206] (Either (Both (Is 345) e213) (Both e70 e214));
  Claim [e202; e204; e205; e206] (Either (Both (Is 346) e217) (Both e124 (Negation e217)));
  Claim [e214; e202; e204; e205; e206] (Equal (U 318) (If e208 (Num_ 0) (If e212 e148 (If e210 e62 e207))));
  Claim [e214; e202; e204; e205; e206] (Equal e79 (If e208 e68 (If e212 (Num_ 127) (Plus e68 e211))));
  Claim [(Is 574)] (Equal (U 592) (Num_ 2143289344));
  Claim [e128; (Is 578)] (Equal (U 592) (Times (Plus e218 (Num_ 2139095040)) (Num_ 1)));
  Claim [e128; e143; e129; e132; e133; e134] (Equal (U 592) (Times (Plus e218 (If (Less e219 e62) e219 (Plus (Times (Plus e149 (Num_ 127)) e62) (Minus e219 e62)))) (Num_ 1)))].
Lemma checked : unit_ok unit_circuit unit_design plan = true. Proof. vm_compute. reflexivity. Qed.
Lemma claimed : unit_claims unit_circuit unit_design plan = certified. Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v -> v (root plan) = compute unit_design (words_in plan v).
Proof. rewrite <- claimed. exact (words_to_words _ _ _ checked). Qed.
