(** hopper/emulated.mma.m16n8k16.f16.e4m3.e4m3.f16: its circuit, its cut points and the claims that were certified. *)
From Coq Require Import ZArith List Bool.
From TC Require Import Spec Design Bv Circuit Finish Fused Leaves Stage Unit.
Import ListNotations.
Open Scope Z_scope.
Definition unit_circuit : circuit := [
  Node 2 8 Input;
  Node 3 8 Input;
  Node 4 8 Input;
  Node 5 8 Input;
  Node 6 8 Input;
  Node 7 8 Input;
  Node 8 8 Input;
  Node 9 8 Input;
  Node 10 8 Input;
  Node 11 8 Input;
  Node 12 8 Input;
  Node 13 8 Input;
  Node 14 8 Input;
  Node 15 8 Input;
  Node 16 8 Input;
  Node 17 8 Input;
  Node 18 8 Input;
  Node 19 8 Input;
  Node 20 8 Input;
  Node 21 8 Input;
  Node 22 8 Input;
  Node 23 8 Input;
  Node 24 8 Input;
  Node 25 8 Input;
  Node 26 8 Input;
  Node 27 8 Input;
  Node 28 8 Input;
  Node 29 8 Input;
  Node 30 8 Input;
  Node 31 8 Input;
  Node 32 8 Input;
  Node 33 8 Input;
  Node 34 16 Input;
  Node 35 4 (Extract 3 2);
  Node 36 1 (Extract 7 2);
  Node 37 4 (Const 0);
  Node 38 1 (Eq 35 37);
  Node 39 1 (Not 38);
  Node 40 3 (Extract 0 2);
  Node 41 4 (Concat 39 40);
  Node 42 3 (Const 0);
  Node 44 3 (Const 7);
  Node 45 1 (Eq 40 44);
  Node 47 4 (Const 15);
  Node 48 1 (Eq 35 47);
  Node 49 1 (Const 0);
  Node 50 1 (And 45 48);
  Node 51 4 (Zext 38);
  Node 52 4 (Or 35 51);
  Node 53 10 (Const 0);
  Node 54 14 (Concat 41 53);
  Node 55 5 (Zext 52);
  Node 56 5 (Const 7);
  Node 57 5 (Add 55 56);
  Node 58 5 (Const 0);
  Node 59 1 (Extract 4 57);
  Node 60 1 (Eq 49 59);
  Node 61 1 (Not 60);
  Node 62 4 (Extract 0 57);
  Node 63 4 (Ite 61 47 62);
  Node 64 8 (Extract 6 54);
  Node 65 8 (Const 0);
  Node 66 1 (Eq 64 65);
  Node 67 1 (Extract 3 63);
  Node 68 1 (Not 66);
  Node 69 1 (And 67 68);
  Node 70 1 (And 66 67);
  Node 71 6 (Const 0);
  Node 72 14 (Const 0);
  Node 73 14 (Ite 70 72 54);
  Node 74 4 (Extract 10 73);
  Node 75 1 (Eq 37 74);
  Node 76 1 (Extract 2 63);
  Node 77 1 (Or 69 76);
  Node 78 1 (Not 75);
  Node 79 1 (And 76 78);
  Node 80 1 (Or 69 79);
  Node 81 1 (And 75 77);
  Node 82 10 (Extract 0 73);
  Node 83 14 (Concat 82 37);
  Node 84 14 (Ite 81 83 73);
  Node 85 2 (Extract 12 84);
  Node 86 2 (Const 0);
  Node 87 1 (Eq 85 86);
  Node 88 1 (Extract 1 63);
  Node 89 1 (Or 80 88);
  Node 90 1 (Not 87);
  Node 91 1 (And 88 90);
  Node 92 1 (Or 80 91);
  Node 93 1 (And 87 89);
  Node 94 12 (Extract 0 84);
  Node 95 14 (Concat 94 86);
  Node 96 14 (Ite 93 95 84);
  Node 97 1 (Extract 13 96);
  Node 98 1 (Eq 49 97);
  Node 99 1 (Extract 0 63);
  Node 100 1 (Or 92 99);
  Node 104 1 (And 98 100);
  Node 105 13 (Extract 0 96);
  Node 106 14 (Concat 105 49);
  Node 107 14 (Ite 104 106 96);
  Node 108 2 (Concat 70 81);
  Node 109 3 (Concat 108 93);
  Node 110 4 (Concat 109 104);
  Node 111 5 (Zext 110);
  Node 112 5 (Sub 57 111);
  Node 113 11 (Extract 3 107);
  Node 114 1 (Extract 2 107);
  Node 115 2 (Extract 0 107);
  Node 116 1 (Eq 86 115);
  Node 117 1 (Not 116);
  Node 118 1 (Extract 3 107);
  Node 119 1 (Or 117 118);
  Node 120 1 (And 114 119);
  Node 121 12 (Zext 113);
  Node 122 12 (Zext 120);
  Node 123 12 (Add 121 122);
  Node 124 1 (Extract 11 123);
  Node 125 11 (Const 1024);
  Node 126 11 (Extract 0 123);
  Node 127 11 (Ite 124 125 126);
  Node 128 11 (Const 0);
  Node 129 1 (Eq 127 128);
  Node 130 6 (Zext 112);
  Node 131 6 (Zext 124);
  Node 132 6 (Add 130 131);
  Node 133 1 (Not 129);
  Node 134 6 (Const 29);
  Node 135 1 (Ult 134 132);
  Node 136 1 (And 133 135);
  Node 137 6 (Ite 129 71 132);
  Node 138 5 (Extract 0 137);
  Node 139 1 (Not 50);
  Node 140 1 (And 136 139);
  Node 141 16 (Const 32256);
  Node 142 1 (Extract 10 127);
  Node 143 5 (Zext 142);
  Node 144 5 (Add 138 143);
  Node 145 10 (Extract 0 127);
  Node 146 15 (Concat 144 145);
  Node 147 16 (Concat 36 146);
  Node 148 15 (Const 31744);
  Node 149 16 (Concat 36 148);
  Node 150 16 (Ite 140 149 147);
  Node 151 16 (Ite 50 141 150);
  Node 152 4 (Extract 3 4);
  Node 153 1 (Extract 7 4);
  Node 154 1 (Eq 37 152);
  Node 155 1 (Not 154);
  Node 156 3 (Extract 0 4);
  Node 157 4 (Concat 155 156);
  Node 159 1 (Eq 44 156);
  Node 161 1 (Eq 47 152);
  Node 162 1 (And 159 161);
  Node 163 4 (Zext 154);
  Node 164 4 (Or 152 163);
  Node 165 14 (Concat 157 53);
  Node 166 5 (Zext 164);
  Node 167 5 (Add 56 166);
  Node 168 1 (Extract 4 167);
  Node 169 1 (Eq 49 168);
  Node 170 1 (Not 169);
  Node 171 4 (Extract 0 167);
  Node 172 4 (Ite 170 47 171);
  Node 173 8 (Extract 6 165);
  Node 174 1 (Eq 65 173);
  Node 175 1 (Extract 3 172);
  Node 176 1 (Not 174);
  Node 177 1 (And 175 176);
  Node 178 1 (And 174 175);
  Node 179 14 (Ite 178 72 165);
  Node 180 4 (Extract 10 179);
  Node 181 1 (Eq 37 180);
  Node 182 1 (Extract 2 172);
  Node 183 1 (Or 177 182);
  Node 184 1 (Not 181);
  Node 185 1 (And 182 184);
  Node 186 1 (Or 177 185);
  Node 187 1 (And 181 183);
  Node 188 10 (Extract 0 179);
  Node 189 14 (Concat 188 37);
  Node 190 14 (Ite 187 189 179);
  Node 191 2 (Extract 12 190);
  Node 192 1 (Eq 86 191);
  Node 193 1 (Extract 1 172);
  Node 194 1 (Or 186 193);
  Node 195 1 (Not 192);
  Node 196 1 (And 193 195);
  Node 197 1 (Or 186 196);
  Node 198 1 (And 192 194);
  Node 199 12 (Extract 0 190);
  Node 200 14 (Concat 199 86);
  Node 201 14 (Ite 198 200 190);
  Node 202 1 (Extract 13 201);
  Node 203 1 (Eq 49 202);
  Node 204 1 (Extract 0 172);
  Node 205 1 (Or 197 204);
  Node 209 1 (And 203 205);
  Node 210 13 (Extract 0 201);
  Node 211 14 (Concat 210 49);
  Node 212 14 (Ite 209 211 201);
  Node 213 2 (Concat 178 187);
  Node 214 3 (Concat 213 198);
  Node 215 4 (Concat 214 209);
  Node 216 5 (Zext 215);
  Node 217 5 (Sub 167 216);
  Node 218 11 (Extract 3 212);
  Node 219 1 (Extract 2 212);
  Node 220 2 (Extract 0 212);
  Node 221 1 (Eq 86 220);
  Node 222 1 (Not 221);
  Node 223 1 (Extract 3 212);
  Node 224 1 (Or 222 223);
  Node 225 1 (And 219 224);
  Node 226 12 (Zext 218);
  Node 227 12 (Zext 225);
  Node 228 12 (Add 226 227);
  Node 229 1 (Extract 11 228);
  Node 230 11 (Extract 0 228);
  Node 231 11 (Ite 229 125 230);
  Node 232 1 (Eq 128 231);
  Node 233 6 (Zext 217);
  Node 234 6 (Zext 229);
  Node 235 6 (Add 233 234);
  Node 236 1 (Not 232);
  Node 237 1 (Ult 134 235);
  Node 238 1 (And 236 237);
  Node 239 6 (Ite 232 71 235);
  Node 240 5 (Extract 0 239);
  Node 241 1 (Not 162);
  Node 242 1 (And 238 241);
  Node 243 1 (Extract 10 231);
  Node 244 5 (Zext 243);
  Node 245 5 (Add 240 244);
  Node 246 10 (Extract 0 231);
  Node 247 15 (Concat 245 246);
  Node 248 16 (Concat 153 247);
  Node 249 16 (Concat 153 148);
  Node 250 16 (Ite 242 249 248);
  Node 251 16 (Ite 162 141 250);
  Node 252 4 (Extract 3 6);
  Node 253 1 (Extract 7 6);
  Node 254 1 (Eq 37 252);
  Node 255 1 (Not 254);
  Node 256 3 (Extract 0 6);
  Node 257 4 (Concat 255 256);
  Node 259 1 (Eq 44 256);
  Node 261 1 (Eq 47 252);
  Node 262 1 (And 259 261);
  Node 263 4 (Zext 254);
  Node 264 4 (Or 252 263);
  Node 265 14 (Concat 257 53);
  Node 266 5 (Zext 264);
  Node 267 5 (Add 56 266);
  Node 268 1 (Extract 4 267);
  Node 269 1 (Eq 49 268);
  Node 270 1 (Not 269);
  Node 271 4 (Extract 0 267);
  Node 272 4 (Ite 270 47 271);
  Node 273 8 (Extract 6 265);
  Node 274 1 (Eq 65 273);
  Node 275 1 (Extract 3 272);
  Node 276 1 (Not 274);
  Node 277 1 (And 275 276);
  Node 278 1 (And 274 275);
  Node 279 14 (Ite 278 72 265);
  Node 280 4 (Extract 10 279);
  Node 281 1 (Eq 37 280);
  Node 282 1 (Extract 2 272);
  Node 283 1 (Or 277 282);
  Node 284 1 (Not 281);
  Node 285 1 (And 282 284);
  Node 286 1 (Or 277 285);
  Node 287 1 (And 281 283);
  Node 288 10 (Extract 0 279);
  Node 289 14 (Concat 288 37);
  Node 290 14 (Ite 287 289 279);
  Node 291 2 (Extract 12 290);
  Node 292 1 (Eq 86 291);
  Node 293 1 (Extract 1 272);
  Node 294 1 (Or 286 293);
  Node 295 1 (Not 292);
  Node 296 1 (And 293 295);
  Node 297 1 (Or 286 296);
  Node 298 1 (And 292 294);
  Node 299 12 (Extract 0 290);
  Node 300 14 (Concat 299 86);
  Node 301 14 (Ite 298 300 290);
  Node 302 1 (Extract 13 301);
  Node 303 1 (Eq 49 302);
  Node 304 1 (Extract 0 272);
  Node 305 1 (Or 297 304);
  Node 309 1 (And 303 305);
  Node 310 13 (Extract 0 301);
  Node 311 14 (Concat 310 49);
  Node 312 14 (Ite 309 311 301);
  Node 313 2 (Concat 278 287);
  Node 314 3 (Concat 313 298);
  Node 315 4 (Concat 314 309);
  Node 316 5 (Zext 315);
  Node 317 5 (Sub 267 316);
  Node 318 11 (Extract 3 312);
  Node 319 1 (Extract 2 312);
  Node 320 2 (Extract 0 312);
  Node 321 1 (Eq 86 320);
  Node 322 1 (Not 321);
  Node 323 1 (Extract 3 312);
  Node 324 1 (Or 322 323);
  Node 325 1 (And 319 324);
  Node 326 12 (Zext 318);
  Node 327 12 (Zext 325);
  Node 328 12 (Add 326 327);
  Node 329 1 (Extract 11 328);
  Node 330 11 (Extract 0 328);
  Node 331 11 (Ite 329 125 330);
  Node 332 1 (Eq 128 331);
  Node 333 6 (Zext 317);
  Node 334 6 (Zext 329);
  Node 335 6 (Add 333 334);
  Node 336 1 (Not 332);
  Node 337 1 (Ult 134 335);
  Node 338 1 (And 336 337);
  Node 339 6 (Ite 332 71 335);
  Node 340 5 (Extract 0 339);
  Node 341 1 (Not 262);
  Node 342 1 (And 338 341);
  Node 343 1 (Extract 10 331);
  Node 344 5 (Zext 343);
  Node 345 5 (Add 340 344);
  Node 346 10 (Extract 0 331);
  Node 347 15 (Concat 345 346);
  Node 348 16 (Concat 253 347);
  Node 349 16 (Concat 253 148);
  Node 350 16 (Ite 342 349 348);
  Node 351 16 (Ite 262 141 350);
  Node 352 4 (Extract 3 8);
  Node 353 1 (Extract 7 8);
  Node 354 1 (Eq 37 352);
  Node 355 1 (Not 354);
  Node 356 3 (Extract 0 8);
  Node 357 4 (Concat 355 356);
  Node 359 1 (Eq 44 356);
  Node 361 1 (Eq 47 352);
  Node 362 1 (And 359 361);
  Node 363 4 (Zext 354);
  Node 364 4 (Or 352 363);
  Node 365 14 (Concat 357 53);
  Node 366 5 (Zext 364);
  Node 367 5 (Add 56 366);
  Node 368 1 (Extract 4 367);
  Node 369 1 (Eq 49 368);
  Node 370 1 (Not 369);
  Node 371 4 (Extract 0 367);
  Node 372 4 (Ite 370 47 371);
  Node 373 8 (Extract 6 365);
  Node 374 1 (Eq 65 373);
  Node 375 1 (Extract 3 372);
  Node 376 1 (Not 374);
  Node 377 1 (And 375 376);
  Node 378 1 (And 374 375);
  Node 379 14 (Ite 378 72 365);
  Node 380 4 (Extract 10 379);
  Node 381 1 (Eq 37 380);
  Node 382 1 (Extract 2 372);
  Node 383 1 (Or 377 382);
  Node 384 1 (Not 381);
  Node 385 1 (And 382 384);
  Node 386 1 (Or 377 385);
  Node 387 1 (And 381 383);
  Node 388 10 (Extract 0 379);
  Node 389 14 (Concat 388 37);
  Node 390 14 (Ite 387 389 379);
  Node 391 2 (Extract 12 390);
  Node 392 1 (Eq 86 391);
  Node 393 1 (Extract 1 372);
  Node 394 1 (Or 386 393);
  Node 395 1 (Not 392);
  Node 396 1 (And 393 395);
  Node 397 1 (Or 386 396);
  Node 398 1 (And 392 394);
  Node 399 12 (Extract 0 390);
  Node 400 14 (Concat 399 86);
  Node 401 14 (Ite 398 400 390);
  Node 402 1 (Extract 13 401);
  Node 403 1 (Eq 49 402);
  Node 404 1 (Extract 0 372);
  Node 405 1 (Or 397 404);
  Node 409 1 (And 403 405);
  Node 410 13 (Extract 0 401);
  Node 411 14 (Concat 410 49);
  Node 412 14 (Ite 409 411 401);
  Node 413 2 (Concat 378 387);
  Node 414 3 (Concat 413 398);
  Node 415 4 (Concat 414 409);
  Node 416 5 (Zext 415);
  Node 417 5 (Sub 367 416);
  Node 418 11 (Extract 3 412);
  Node 419 1 (Extract 2 412);
  Node 420 2 (Extract 0 412);
  Node 421 1 (Eq 86 420);
  Node 422 1 (Not 421);
  Node 423 1 (Extract 3 412);
  Node 424 1 (Or 422 423);
  Node 425 1 (And 419 424);
  Node 426 12 (Zext 418);
  Node 427 12 (Zext 425);
  Node 428 12 (Add 426 427);
  Node 429 1 (Extract 11 428);
  Node 430 11 (Extract 0 428);
  Node 431 11 (Ite 429 125 430);
  Node 432 1 (Eq 128 431);
  Node 433 6 (Zext 417);
  Node 434 6 (Zext 429);
  Node 435 6 (Add 433 434);
  Node 436 1 (Not 432);
  Node 437 1 (Ult 134 435);
  Node 438 1 (And 436 437);
  Node 439 6 (Ite 432 71 435);
  Node 440 5 (Extract 0 439);
  Node 441 1 (Not 362);
  Node 442 1 (And 438 441);
  Node 443 1 (Extract 10 431);
  Node 444 5 (Zext 443);
  Node 445 5 (Add 440 444);
  Node 446 10 (Extract 0 431);
  Node 447 15 (Concat 445 446);
  Node 448 16 (Concat 353 447);
  Node 449 16 (Concat 353 148);
  Node 450 16 (Ite 442 449 448);
  Node 451 16 (Ite 362 141 450);
  Node 452 4 (Extract 3 10);
  Node 453 1 (Extract 7 10);
  Node 454 1 (Eq 37 452);
  Node 455 1 (Not 454);
  Node 456 3 (Extract 0 10);
  Node 457 4 (Concat 455 456);
  Node 459 1 (Eq 44 456);
  Node 461 1 (Eq 47 452);
  Node 462 1 (And 459 461);
  Node 463 4 (Zext 454);
  Node 464 4 (Or 452 463);
  Node 465 14 (Concat 457 53);
  Node 466 5 (Zext 464);
  Node 467 5 (Add 56 466);
  Node 468 1 (Extract 4 467);
  Node 469 1 (Eq 49 468);
  Node 470 1 (Not 469);
  Node 471 4 (Extract 0 467);
  Node 472 4 (Ite 470 47 471);
  Node 473 8 (Extract 6 465);
  Node 474 1 (Eq 65 473);
  Node 475 1 (Extract 3 472);
  Node 476 1 (Not 474);
  Node 477 1 (And 475 476);
  Node 478 1 (And 474 475);
  Node 479 14 (Ite 478 72 465);
  Node 480 4 (Extract 10 479);
  Node 481 1 (Eq 37 480);
  Node 482 1 (Extract 2 472);
  Node 483 1 (Or 477 482);
  Node 484 1 (Not 481);
  Node 485 1 (And 482 484);
  Node 486 1 (Or 477 485);
  Node 487 1 (And 481 483);
  Node 488 10 (Extract 0 479);
  Node 489 14 (Concat 488 37);
  Node 490 14 (Ite 487 489 479);
  Node 491 2 (Extract 12 490);
  Node 492 1 (Eq 86 491);
  Node 493 1 (Extract 1 472);
  Node 494 1 (Or 486 493);
  Node 495 1 (Not 492);
  Node 496 1 (And 493 495);
  Node 497 1 (Or 486 496);
  Node 498 1 (And 492 494);
  Node 499 12 (Extract 0 490);
  Node 500 14 (Concat 499 86);
  Node 501 14 (Ite 498 500 490);
  Node 502 1 (Extract 13 501);
  Node 503 1 (Eq 49 502);
  Node 504 1 (Extract 0 472);
  Node 505 1 (Or 497 504);
  Node 509 1 (And 503 505);
  Node 510 13 (Extract 0 501);
  Node 511 14 (Concat 510 49);
  Node 512 14 (Ite 509 511 501);
  Node 513 2 (Concat 478 487);
  Node 514 3 (Concat 513 498);
  Node 515 4 (Concat 514 509);
  Node 516 5 (Zext 515);
  Node 517 5 (Sub 467 516);
  Node 518 11 (Extract 3 512);
  Node 519 1 (Extract 2 512);
  Node 520 2 (Extract 0 512);
  Node 521 1 (Eq 86 520);
  Node 522 1 (Not 521);
  Node 523 1 (Extract 3 512);
  Node 524 1 (Or 522 523);
  Node 525 1 (And 519 524);
  Node 526 12 (Zext 518);
  Node 527 12 (Zext 525);
  Node 528 12 (Add 526 527);
  Node 529 1 (Extract 11 528);
  Node 530 11 (Extract 0 528);
  Node 531 11 (Ite 529 125 530);
  Node 532 1 (Eq 128 531);
  Node 533 6 (Zext 517);
  Node 534 6 (Zext 529);
  Node 535 6 (Add 533 534);
  Node 536 1 (Not 532);
  Node 537 1 (Ult 134 535);
  Node 538 1 (And 536 537);
  Node 539 6 (Ite 532 71 535);
  Node 540 5 (Extract 0 539);
  Node 541 1 (Not 462);
  Node 542 1 (And 538 541);
  Node 543 1 (Extract 10 531);
  Node 544 5 (Zext 543);
  Node 545 5 (Add 540 544);
  Node 546 10 (Extract 0 531);
  Node 547 15 (Concat 545 546);
  Node 548 16 (Concat 453 547);
  Node 549 16 (Concat 453 148);
  Node 550 16 (Ite 542 549 548);
  Node 551 16 (Ite 462 141 550);
  Node 552 4 (Extract 3 12);
  Node 553 1 (Extract 7 12);
  Node 554 1 (Eq 37 552);
  Node 555 1 (Not 554);
  Node 556 3 (Extract 0 12);
  Node 557 4 (Concat 555 556);
  Node 559 1 (Eq 44 556);
  Node 561 1 (Eq 47 552);
  Node 562 1 (And 559 561);
  Node 563 4 (Zext 554);
  Node 564 4 (Or 552 563);
  Node 565 14 (Concat 557 53);
  Node 566 5 (Zext 564);
  Node 567 5 (Add 56 566);
  Node 568 1 (Extract 4 567);
  Node 569 1 (Eq 49 568);
  Node 570 1 (Not 569);
  Node 571 4 (Extract 0 567);
  Node 572 4 (Ite 570 47 571);
  Node 573 8 (Extract 6 565);
  Node 574 1 (Eq 65 573);
  Node 575 1 (Extract 3 572);
  Node 576 1 (Not 574);
  Node 577 1 (And 575 576);
  Node 578 1 (And 574 575);
  Node 579 14 (Ite 578 72 565);
  Node 580 4 (Extract 10 579);
  Node 581 1 (Eq 37 580);
  Node 582 1 (Extract 2 572);
  Node 583 1 (Or 577 582);
  Node 584 1 (Not 581);
  Node 585 1 (And 582 584);
  Node 586 1 (Or 577 585);
  Node 587 1 (And 581 583);
  Node 588 10 (Extract 0 579);
  Node 589 14 (Concat 588 37);
  Node 590 14 (Ite 587 589 579);
  Node 591 2 (Extract 12 590);
  Node 592 1 (Eq 86 591);
  Node 593 1 (Extract 1 572);
  Node 594 1 (Or 586 593);
  Node 595 1 (Not 592);
  Node 596 1 (And 593 595);
  Node 597 1 (Or 586 596);
  Node 598 1 (And 592 594);
  Node 599 12 (Extract 0 590);
  Node 600 14 (Concat 599 86);
  Node 601 14 (Ite 598 600 590);
  Node 602 1 (Extract 13 601);
  Node 603 1 (Eq 49 602);
  Node 604 1 (Extract 0 572);
  Node 605 1 (Or 597 604);
  Node 609 1 (And 603 605);
  Node 610 13 (Extract 0 601);
  Node 611 14 (Concat 610 49);
  Node 612 14 (Ite 609 611 601);
  Node 613 2 (Concat 578 587);
  Node 614 3 (Concat 613 598);
  Node 615 4 (Concat 614 609);
  Node 616 5 (Zext 615);
  Node 617 5 (Sub 567 616);
  Node 618 11 (Extract 3 612);
  Node 619 1 (Extract 2 612);
  Node 620 2 (Extract 0 612);
  Node 621 1 (Eq 86 620);
  Node 622 1 (Not 621);
  Node 623 1 (Extract 3 612);
  Node 624 1 (Or 622 623);
  Node 625 1 (And 619 624);
  Node 626 12 (Zext 618);
  Node 627 12 (Zext 625);
  Node 628 12 (Add 626 627);
  Node 629 1 (Extract 11 628);
  Node 630 11 (Extract 0 628);
  Node 631 11 (Ite 629 125 630);
  Node 632 1 (Eq 128 631);
  Node 633 6 (Zext 617);
  Node 634 6 (Zext 629);
  Node 635 6 (Add 633 634);
  Node 636 1 (Not 632);
  Node 637 1 (Ult 134 635);
  Node 638 1 (And 636 637);
  Node 639 6 (Ite 632 71 635);
  Node 640 5 (Extract 0 639);
  Node 641 1 (Not 562);
  Node 642 1 (And 638 641);
  Node 643 1 (Extract 10 631);
  Node 644 5 (Zext 643);
  Node 645 5 (Add 640 644);
  Node 646 10 (Extract 0 631);
  Node 647 15 (Concat 645 646);
  Node 648 16 (Concat 553 647);
  Node 649 16 (Concat 553 148);
  Node 650 16 (Ite 642 649 648);
  Node 651 16 (Ite 562 141 650);
  Node 652 4 (Extract 3 14);
  Node 653 1 (Extract 7 14);
  Node 654 1 (Eq 37 652);
  Node 655 1 (Not 654);
  Node 656 3 (Extract 0 14);
  Node 657 4 (Concat 655 656);
  Node 659 1 (Eq 44 656);
  Node 661 1 (Eq 47 652);
  Node 662 1 (And 659 661);
  Node 663 4 (Zext 654);
  Node 664 4 (Or 652 663);
  Node 665 14 (Concat 657 53);
  Node 666 5 (Zext 664);
  Node 667 5 (Add 56 666);
  Node 668 1 (Extract 4 667);
  Node 669 1 (Eq 49 668);
  Node 670 1 (Not 669);
  Node 671 4 (Extract 0 667);
  Node 672 4 (Ite 670 47 671);
  Node 673 8 (Extract 6 665);
  Node 674 1 (Eq 65 673);
  Node 675 1 (Extract 3 672);
  Node 676 1 (Not 674);
  Node 677 1 (And 675 676);
  Node 678 1 (And 674 675);
  Node 679 14 (Ite 678 72 665);
  Node 680 4 (Extract 10 679);
  Node 681 1 (Eq 37 680);
  Node 682 1 (Extract 2 672);
  Node 683 1 (Or 677 682);
  Node 684 1 (Not 681);
  Node 685 1 (And 682 684);
  Node 686 1 (Or 677 685);
  Node 687 1 (And 681 683);
  Node 688 10 (Extract 0 679);
  Node 689 14 (Concat 688 37);
  Node 690 14 (Ite 687 689 679);
  Node 691 2 (Extract 12 690);
  Node 692 1 (Eq 86 691);
  Node 693 1 (Extract 1 672);
  Node 694 1 (Or 686 693);
  Node 695 1 (Not 692);
  Node 696 1 (And 693 695);
  Node 697 1 (Or 686 696);
  Node 698 1 (And 692 694);
  Node 699 12 (Extract 0 690);
  Node 700 14 (Concat 699 86);
  Node 701 14 (Ite 698 700 690);
  Node 702 1 (Extract 13 701);
  Node 703 1 (Eq 49 702);
  Node 704 1 (Extract 0 672);
  Node 705 1 (Or 697 704);
  Node 709 1 (And 703 705);
  Node 710 13 (Extract 0 701);
  Node 711 14 (Concat 710 49);
  Node 712 14 (Ite 709 711 701);
  Node 713 2 (Concat 678 687);
  Node 714 3 (Concat 713 698);
  Node 715 4 (Concat 714 709);
  Node 716 5 (Zext 715);
  Node 717 5 (Sub 667 716);
  Node 718 11 (Extract 3 712);
  Node 719 1 (Extract 2 712);
  Node 720 2 (Extract 0 712);
  Node 721 1 (Eq 86 720);
  Node 722 1 (Not 721);
  Node 723 1 (Extract 3 712);
  Node 724 1 (Or 722 723);
  Node 725 1 (And 719 724);
  Node 726 12 (Zext 718);
  Node 727 12 (Zext 725);
  Node 728 12 (Add 726 727);
  Node 729 1 (Extract 11 728);
  Node 730 11 (Extract 0 728);
  Node 731 11 (Ite 729 125 730);
  Node 732 1 (Eq 128 731);
  Node 733 6 (Zext 717);
  Node 734 6 (Zext 729);
  Node 735 6 (Add 733 734);
  Node 736 1 (Not 732);
  Node 737 1 (Ult 134 735);
  Node 738 1 (And 736 737);
  Node 739 6 (Ite 732 71 735);
  Node 740 5 (Extract 0 739);
  Node 741 1 (Not 662);
  Node 742 1 (And 738 741);
  Node 743 1 (Extract 10 731);
  Node 744 5 (Zext 743);
  Node 745 5 (Add 740 744);
  Node 746 10 (Extract 0 731);
  Node 747 15 (Concat 745 746);
  Node 748 16 (Concat 653 747);
  Node 749 16 (Concat 653 148);
  Node 750 16 (Ite 742 749 748);
  Node 751 16 (Ite 662 141 750);
  Node 752 4 (Extract 3 16);
  Node 753 1 (Extract 7 16);
  Node 754 1 (Eq 37 752);
  Node 755 1 (Not 754);
  Node 756 3 (Extract 0 16);
  Node 757 4 (Concat 755 756);
  Node 759 1 (Eq 44 756);
  Node 761 1 (Eq 47 752);
  Node 762 1 (And 759 761);
  Node 763 4 (Zext 754);
  Node 764 4 (Or 752 763);
  Node 765 14 (Concat 757 53);
  Node 766 5 (Zext 764);
  Node 767 5 (Add 56 766);
  Node 768 1 (Extract 4 767);
  Node 769 1 (Eq 49 768);
  Node 770 1 (Not 769);
  Node 771 4 (Extract 0 767);
  Node 772 4 (Ite 770 47 771);
  Node 773 8 (Extract 6 765);
  Node 774 1 (Eq 65 773);
  Node 775 1 (Extract 3 772);
  Node 776 1 (Not 774);
  Node 777 1 (And 775 776);
  Node 778 1 (And 774 775);
  Node 779 14 (Ite 778 72 765);
  Node 780 4 (Extract 10 779);
  Node 781 1 (Eq 37 780);
  Node 782 1 (Extract 2 772);
  Node 783 1 (Or 777 782);
  Node 784 1 (Not 781);
  Node 785 1 (And 782 784);
  Node 786 1 (Or 777 785);
  Node 787 1 (And 781 783);
  Node 788 10 (Extract 0 779);
  Node 789 14 (Concat 788 37);
  Node 790 14 (Ite 787 789 779);
  Node 791 2 (Extract 12 790);
  Node 792 1 (Eq 86 791);
  Node 793 1 (Extract 1 772);
  Node 794 1 (Or 786 793);
  Node 795 1 (Not 792);
  Node 796 1 (And 793 795);
  Node 797 1 (Or 786 796);
  Node 798 1 (And 792 794);
  Node 799 12 (Extract 0 790);
  Node 800 14 (Concat 799 86);
  Node 801 14 (Ite 798 800 790);
  Node 802 1 (Extract 13 801);
  Node 803 1 (Eq 49 802);
  Node 804 1 (Extract 0 772);
  Node 805 1 (Or 797 804);
  Node 809 1 (And 803 805);
  Node 810 13 (Extract 0 801);
  Node 811 14 (Concat 810 49);
  Node 812 14 (Ite 809 811 801);
  Node 813 2 (Concat 778 787);
  Node 814 3 (Concat 813 798);
  Node 815 4 (Concat 814 809);
  Node 816 5 (Zext 815);
  Node 817 5 (Sub 767 816);
  Node 818 11 (Extract 3 812);
  Node 819 1 (Extract 2 812);
  Node 820 2 (Extract 0 812);
  Node 821 1 (Eq 86 820);
  Node 822 1 (Not 821);
  Node 823 1 (Extract 3 812);
  Node 824 1 (Or 822 823);
  Node 825 1 (And 819 824);
  Node 826 12 (Zext 818);
  Node 827 12 (Zext 825);
  Node 828 12 (Add 826 827);
  Node 829 1 (Extract 11 828);
  Node 830 11 (Extract 0 828);
  Node 831 11 (Ite 829 125 830);
  Node 832 1 (Eq 128 831);
  Node 833 6 (Zext 817);
  Node 834 6 (Zext 829);
  Node 835 6 (Add 833 834);
  Node 836 1 (Not 832);
  Node 837 1 (Ult 134 835);
  Node 838 1 (And 836 837);
  Node 839 6 (Ite 832 71 835);
  Node 840 5 (Extract 0 839);
  Node 841 1 (Not 762);
  Node 842 1 (And 838 841);
  Node 843 1 (Extract 10 831);
  Node 844 5 (Zext 843);
  Node 845 5 (Add 840 844);
  Node 846 10 (Extract 0 831);
  Node 847 15 (Concat 845 846);
  Node 848 16 (Concat 753 847);
  Node 849 16 (Concat 753 148);
  Node 850 16 (Ite 842 849 848);
  Node 851 16 (Ite 762 141 850);
  Node 852 4 (Extract 3 18);
  Node 853 1 (Extract 7 18);
  Node 854 1 (Eq 37 852);
  Node 855 1 (Not 854);
  Node 856 3 (Extract 0 18);
  Node 857 4 (Concat 855 856);
  Node 859 1 (Eq 44 856);
  Node 861 1 (Eq 47 852);
  Node 862 1 (And 859 861);
  Node 863 4 (Zext 854);
  Node 864 4 (Or 852 863);
  Node 865 14 (Concat 857 53);
  Node 866 5 (Zext 864);
  Node 867 5 (Add 56 866);
  Node 868 1 (Extract 4 867);
  Node 869 1 (Eq 49 868);
  Node 870 1 (Not 869);
  Node 871 4 (Extract 0 867);
  Node 872 4 (Ite 870 47 871);
  Node 873 8 (Extract 6 865);
  Node 874 1 (Eq 65 873);
  Node 875 1 (Extract 3 872);
  Node 876 1 (Not 874);
  Node 877 1 (And 875 876);
  Node 878 1 (And 874 875);
  Node 879 14 (Ite 878 72 865);
  Node 880 4 (Extract 10 879);
  Node 881 1 (Eq 37 880);
  Node 882 1 (Extract 2 872);
  Node 883 1 (Or 877 882);
  Node 884 1 (Not 881);
  Node 885 1 (And 882 884);
  Node 886 1 (Or 877 885);
  Node 887 1 (And 881 883);
  Node 888 10 (Extract 0 879);
  Node 889 14 (Concat 888 37);
  Node 890 14 (Ite 887 889 879);
  Node 891 2 (Extract 12 890);
  Node 892 1 (Eq 86 891);
  Node 893 1 (Extract 1 872);
  Node 894 1 (Or 886 893);
  Node 895 1 (Not 892);
  Node 896 1 (And 893 895);
  Node 897 1 (Or 886 896);
  Node 898 1 (And 892 894);
  Node 899 12 (Extract 0 890);
  Node 900 14 (Concat 899 86);
  Node 901 14 (Ite 898 900 890);
  Node 902 1 (Extract 13 901);
  Node 903 1 (Eq 49 902);
  Node 904 1 (Extract 0 872);
  Node 905 1 (Or 897 904);
  Node 909 1 (And 903 905);
  Node 910 13 (Extract 0 901);
  Node 911 14 (Concat 910 49);
  Node 912 14 (Ite 909 911 901);
  Node 913 2 (Concat 878 887);
  Node 914 3 (Concat 913 898);
  Node 915 4 (Concat 914 909);
  Node 916 5 (Zext 915);
  Node 917 5 (Sub 867 916);
  Node 918 11 (Extract 3 912);
  Node 919 1 (Extract 2 912);
  Node 920 2 (Extract 0 912);
  Node 921 1 (Eq 86 920);
  Node 922 1 (Not 921);
  Node 923 1 (Extract 3 912);
  Node 924 1 (Or 922 923);
  Node 925 1 (And 919 924);
  Node 926 12 (Zext 918);
  Node 927 12 (Zext 925);
  Node 928 12 (Add 926 927);
  Node 929 1 (Extract 11 928);
  Node 930 11 (Extract 0 928);
  Node 931 11 (Ite 929 125 930);
  Node 932 1 (Eq 128 931);
  Node 933 6 (Zext 917);
  Node 934 6 (Zext 929);
  Node 935 6 (Add 933 934);
  Node 936 1 (Not 932);
  Node 937 1 (Ult 134 935);
  Node 938 1 (And 936 937);
  Node 939 6 (Ite 932 71 935);
  Node 940 5 (Extract 0 939);
  Node 941 1 (Not 862);
  Node 942 1 (And 938 941);
  Node 943 1 (Extract 10 931);
  Node 944 5 (Zext 943);
  Node 945 5 (Add 940 944);
  Node 946 10 (Extract 0 931);
  Node 947 15 (Concat 945 946);
  Node 948 16 (Concat 853 947);
  Node 949 16 (Concat 853 148);
  Node 950 16 (Ite 942 949 948);
  Node 951 16 (Ite 862 141 950);
  Node 952 4 (Extract 3 20);
  Node 953 1 (Extract 7 20);
  Node 954 1 (Eq 37 952);
  Node 955 1 (Not 954);
  Node 956 3 (Extract 0 20);
  Node 957 4 (Concat 955 956);
  Node 959 1 (Eq 44 956);
  Node 961 1 (Eq 47 952);
  Node 962 1 (And 959 961);
  Node 963 4 (Zext 954);
  Node 964 4 (Or 952 963);
  Node 965 14 (Concat 957 53);
  Node 966 5 (Zext 964);
  Node 967 5 (Add 56 966);
  Node 968 1 (Extract 4 967);
  Node 969 1 (Eq 49 968);
  Node 970 1 (Not 969);
  Node 971 4 (Extract 0 967);
  Node 972 4 (Ite 970 47 971);
  Node 973 8 (Extract 6 965);
  Node 974 1 (Eq 65 973);
  Node 975 1 (Extract 3 972);
  Node 976 1 (Not 974);
  Node 977 1 (And 975 976);
  Node 978 1 (And 974 975);
  Node 979 14 (Ite 978 72 965);
  Node 980 4 (Extract 10 979);
  Node 981 1 (Eq 37 980);
  Node 982 1 (Extract 2 972);
  Node 983 1 (Or 977 982);
  Node 984 1 (Not 981);
  Node 985 1 (And 982 984);
  Node 986 1 (Or 977 985);
  Node 987 1 (And 981 983);
  Node 988 10 (Extract 0 979);
  Node 989 14 (Concat 988 37);
  Node 990 14 (Ite 987 989 979);
  Node 991 2 (Extract 12 990);
  Node 992 1 (Eq 86 991);
  Node 993 1 (Extract 1 972);
  Node 994 1 (Or 986 993);
  Node 995 1 (Not 992);
  Node 996 1 (And 993 995);
  Node 997 1 (Or 986 996);
  Node 998 1 (And 992 994);
  Node 999 12 (Extract 0 990);
  Node 1000 14 (Concat 999 86);
  Node 1001 14 (Ite 998 1000 990);
  Node 1002 1 (Extract 13 1001);
  Node 1003 1 (Eq 49 1002);
  Node 1004 1 (Extract 0 972);
  Node 1005 1 (Or 997 1004);
  Node 1009 1 (And 1003 1005);
  Node 1010 13 (Extract 0 1001);
  Node 1011 14 (Concat 1010 49);
  Node 1012 14 (Ite 1009 1011 1001);
  Node 1013 2 (Concat 978 987);
  Node 1014 3 (Concat 1013 998);
  Node 1015 4 (Concat 1014 1009);
  Node 1016 5 (Zext 1015);
  Node 1017 5 (Sub 967 1016);
  Node 1018 11 (Extract 3 1012);
  Node 1019 1 (Extract 2 1012);
  Node 1020 2 (Extract 0 1012);
  Node 1021 1 (Eq 86 1020);
  Node 1022 1 (Not 1021);
  Node 1023 1 (Extract 3 1012);
  Node 1024 1 (Or 1022 1023);
  Node 1025 1 (And 1019 1024);
  Node 1026 12 (Zext 1018);
  Node 1027 12 (Zext 1025);
  Node 1028 12 (Add 1026 1027);
  Node 1029 1 (Extract 11 1028);
  Node 1030 11 (Extract 0 1028);
  Node 1031 11 (Ite 1029 125 1030);
  Node 1032 1 (Eq 128 1031);
  Node 1033 6 (Zext 1017);
  Node 1034 6 (Zext 1029);
  Node 1035 6 (Add 1033 1034);
  Node 1036 1 (Not 1032);
  Node 1037 1 (Ult 134 1035);
  Node 1038 1 (And 1036 1037);
  Node 1039 6 (Ite 1032 71 1035);
  Node 1040 5 (Extract 0 1039);
  Node 1041 1 (Not 962);
  Node 1042 1 (And 1038 1041);
  Node 1043 1 (Extract 10 1031);
  Node 1044 5 (Zext 1043);
  Node 1045 5 (Add 1040 1044);
  Node 1046 10 (Extract 0 1031);
  Node 1047 15 (Concat 1045 1046);
  Node 1048 16 (Concat 953 1047);
  Node 1049 16 (Concat 953 148);
  Node 1050 16 (Ite 1042 1049 1048);
  Node 1051 16 (Ite 962 141 1050);
  Node 1052 4 (Extract 3 22);
  Node 1053 1 (Extract 7 22);
  Node 1054 1 (Eq 37 1052);
  Node 1055 1 (Not 1054);
  Node 1056 3 (Extract 0 22);
  Node 1057 4 (Concat 1055 1056);
  Node 1059 1 (Eq 44 1056);
  Node 1061 1 (Eq 47 1052);
  Node 1062 1 (And 1059 1061);
  Node 1063 4 (Zext 1054);
  Node 1064 4 (Or 1052 1063);
  Node 1065 14 (Concat 1057 53);
  Node 1066 5 (Zext 1064);
  Node 1067 5 (Add 56 1066);
  Node 1068 1 (Extract 4 1067);
  Node 1069 1 (Eq 49 1068);
  Node 1070 1 (Not 1069);
  Node 1071 4 (Extract 0 1067);
  Node 1072 4 (Ite 1070 47 1071);
  Node 1073 8 (Extract 6 1065);
  Node 1074 1 (Eq 65 1073);
  Node 1075 1 (Extract 3 1072);
  Node 1076 1 (Not 1074);
  Node 1077 1 (And 1075 1076);
  Node 1078 1 (And 1074 1075);
  Node 1079 14 (Ite 1078 72 1065);
  Node 1080 4 (Extract 10 1079);
  Node 1081 1 (Eq 37 1080);
  Node 1082 1 (Extract 2 1072);
  Node 1083 1 (Or 1077 1082);
  Node 1084 1 (Not 1081);
  Node 1085 1 (And 1082 1084);
  Node 1086 1 (Or 1077 1085);
  Node 1087 1 (And 1081 1083);
  Node 1088 10 (Extract 0 1079);
  Node 1089 14 (Concat 1088 37);
  Node 1090 14 (Ite 1087 1089 1079);
  Node 1091 2 (Extract 12 1090);
  Node 1092 1 (Eq 86 1091);
  Node 1093 1 (Extract 1 1072);
  Node 1094 1 (Or 1086 1093);
  Node 1095 1 (Not 1092);
  Node 1096 1 (And 1093 1095);
  Node 1097 1 (Or 1086 1096);
  Node 1098 1 (And 1092 1094);
  Node 1099 12 (Extract 0 1090);
  Node 1100 14 (Concat 1099 86);
  Node 1101 14 (Ite 1098 1100 1090);
  Node 1102 1 (Extract 13 1101);
  Node 1103 1 (Eq 49 1102);
  Node 1104 1 (Extract 0 1072);
  Node 1105 1 (Or 1097 1104);
  Node 1109 1 (And 1103 1105);
  Node 1110 13 (Extract 0 1101);
  Node 1111 14 (Concat 1110 49);
  Node 1112 14 (Ite 1109 1111 1101);
  Node 1113 2 (Concat 1078 1087);
  Node 1114 3 (Concat 1113 1098);
  Node 1115 4 (Concat 1114 1109);
  Node 1116 5 (Zext 1115);
  Node 1117 5 (Sub 1067 1116);
  Node 1118 11 (Extract 3 1112);
  Node 1119 1 (Extract 2 1112);
  Node 1120 2 (Extract 0 1112);
  Node 1121 1 (Eq 86 1120);
  Node 1122 1 (Not 1121);
  Node 1123 1 (Extract 3 1112);
  Node 1124 1 (Or 1122 1123);
  Node 1125 1 (And 1119 1124);
  Node 1126 12 (Zext 1118);
  Node 1127 12 (Zext 1125);
  Node 1128 12 (Add 1126 1127);
  Node 1129 1 (Extract 11 1128);
  Node 1130 11 (Extract 0 1128);
  Node 1131 11 (Ite 1129 125 1130);
  Node 1132 1 (Eq 128 1131);
  Node 1133 6 (Zext 1117);
  Node 1134 6 (Zext 1129);
  Node 1135 6 (Add 1133 1134);
  Node 1136 1 (Not 1132);
  Node 1137 1 (Ult 134 1135);
  Node 1138 1 (And 1136 1137);
  Node 1139 6 (Ite 1132 71 1135);
  Node 1140 5 (Extract 0 1139);
  Node 1141 1 (Not 1062);
  Node 1142 1 (And 1138 1141);
  Node 1143 1 (Extract 10 1131);
  Node 1144 5 (Zext 1143);
  Node 1145 5 (Add 1140 1144);
  Node 1146 10 (Extract 0 1131);
  Node 1147 15 (Concat 1145 1146);
  Node 1148 16 (Concat 1053 1147);
  Node 1149 16 (Concat 1053 148);
  Node 1150 16 (Ite 1142 1149 1148);
  Node 1151 16 (Ite 1062 141 1150);
  Node 1152 4 (Extract 3 24);
  Node 1153 1 (Extract 7 24);
  Node 1154 1 (Eq 37 1152);
  Node 1155 1 (Not 1154);
  Node 1156 3 (Extract 0 24);
  Node 1157 4 (Concat 1155 1156);
  Node 1159 1 (Eq 44 1156);
  Node 1161 1 (Eq 47 1152);
  Node 1162 1 (And 1159 1161);
  Node 1163 4 (Zext 1154);
  Node 1164 4 (Or 1152 1163);
  Node 1165 14 (Concat 1157 53);
  Node 1166 5 (Zext 1164);
  Node 1167 5 (Add 56 1166);
  Node 1168 1 (Extract 4 1167);
  Node 1169 1 (Eq 49 1168);
  Node 1170 1 (Not 1169);
  Node 1171 4 (Extract 0 1167);
  Node 1172 4 (Ite 1170 47 1171);
  Node 1173 8 (Extract 6 1165);
  Node 1174 1 (Eq 65 1173);
  Node 1175 1 (Extract 3 1172);
  Node 1176 1 (Not 1174);
  Node 1177 1 (And 1175 1176);
  Node 1178 1 (And 1174 1175);
  Node 1179 14 (Ite 1178 72 1165);
  Node 1180 4 (Extract 10 1179);
  Node 1181 1 (Eq 37 1180);
  Node 1182 1 (Extract 2 1172);
  Node 1183 1 (Or 1177 1182);
  Node 1184 1 (Not 1181);
  Node 1185 1 (And 1182 1184);
  Node 1186 1 (Or 1177 1185);
  Node 1187 1 (And 1181 1183);
  Node 1188 10 (Extract 0 1179);
  Node 1189 14 (Concat 1188 37);
  Node 1190 14 (Ite 1187 1189 1179);
  Node 1191 2 (Extract 12 1190);
  Node 1192 1 (Eq 86 1191);
  Node 1193 1 (Extract 1 1172);
  Node 1194 1 (Or 1186 1193);
  Node 1195 1 (Not 1192);
  Node 1196 1 (And 1193 1195);
  Node 1197 1 (Or 1186 1196);
  Node 1198 1 (And 1192 1194);
  Node 1199 12 (Extract 0 1190);
  Node 1200 14 (Concat 1199 86);
  Node 1201 14 (Ite 1198 1200 1190);
  Node 1202 1 (Extract 13 1201);
  Node 1203 1 (Eq 49 1202);
  Node 1204 1 (Extract 0 1172);
  Node 1205 1 (Or 1197 1204);
  Node 1209 1 (And 1203 1205);
  Node 1210 13 (Extract 0 1201);
  Node 1211 14 (Concat 1210 49);
  Node 1212 14 (Ite 1209 1211 1201);
  Node 1213 2 (Concat 1178 1187);
  Node 1214 3 (Concat 1213 1198);
  Node 1215 4 (Concat 1214 1209);
  Node 1216 5 (Zext 1215);
  Node 1217 5 (Sub 1167 1216);
  Node 1218 11 (Extract 3 1212);
  Node 1219 1 (Extract 2 1212);
  Node 1220 2 (Extract 0 1212);
  Node 1221 1 (Eq 86 1220);
  Node 1222 1 (Not 1221);
  Node 1223 1 (Extract 3 1212);
  Node 1224 1 (Or 1222 1223);
  Node 1225 1 (And 1219 1224);
  Node 1226 12 (Zext 1218);
  Node 1227 12 (Zext 1225);
  Node 1228 12 (Add 1226 1227);
  Node 1229 1 (Extract 11 1228);
  Node 1230 11 (Extract 0 1228);
  Node 1231 11 (Ite 1229 125 1230);
  Node 1232 1 (Eq 128 1231);
  Node 1233 6 (Zext 1217);
  Node 1234 6 (Zext 1229);
  Node 1235 6 (Add 1233 1234);
  Node 1236 1 (Not 1232);
  Node 1237 1 (Ult 134 1235);
  Node 1238 1 (And 1236 1237);
  Node 1239 6 (Ite 1232 71 1235);
  Node 1240 5 (Extract 0 1239);
  Node 1241 1 (Not 1162);
  Node 1242 1 (And 1238 1241);
  Node 1243 1 (Extract 10 1231);
  Node 1244 5 (Zext 1243);
  Node 1245 5 (Add 1240 1244);
  Node 1246 10 (Extract 0 1231);
  Node 1247 15 (Concat 1245 1246);
  Node 1248 16 (Concat 1153 1247);
  Node 1249 16 (Concat 1153 148);
  Node 1250 16 (Ite 1242 1249 1248);
  Node 1251 16 (Ite 1162 141 1250);
  Node 1252 4 (Extract 3 26);
  Node 1253 1 (Extract 7 26);
  Node 1254 1 (Eq 37 1252);
  Node 1255 1 (Not 1254);
  Node 1256 3 (Extract 0 26);
  Node 1257 4 (Concat 1255 1256);
  Node 1259 1 (Eq 44 1256);
  Node 1261 1 (Eq 47 1252);
  Node 1262 1 (And 1259 1261);
  Node 1263 4 (Zext 1254);
  Node 1264 4 (Or 1252 1263);
  Node 1265 14 (Concat 1257 53);
  Node 1266 5 (Zext 1264);
  Node 1267 5 (Add 56 1266);
  Node 1268 1 (Extract 4 1267);
  Node 1269 1 (Eq 49 1268);
  Node 1270 1 (Not 1269);
  Node 1271 4 (Extract 0 1267);
  Node 1272 4 (Ite 1270 47 1271);
  Node 1273 8 (Extract 6 1265);
  Node 1274 1 (Eq 65 1273);
  Node 1275 1 (Extract 3 1272);
  Node 1276 1 (Not 1274);
  Node 1277 1 (And 1275 1276);
  Node 1278 1 (And 1274 1275);
  Node 1279 14 (Ite 1278 72 1265);
  Node 1280 4 (Extract 10 1279);
  Node 1281 1 (Eq 37 1280);
  Node 1282 1 (Extract 2 1272);
  Node 1283 1 (Or 1277 1282);
  Node 1284 1 (Not 1281);
  Node 1285 1 (And 1282 1284);
  Node 1286 1 (Or 1277 1285);
  Node 1287 1 (And 1281 1283);
  Node 1288 10 (Extract 0 1279);
  Node 1289 14 (Concat 1288 37);
  Node 1290 14 (Ite 1287 1289 1279);
  Node 1291 2 (Extract 12 1290);
  Node 1292 1 (Eq 86 1291);
  Node 1293 1 (Extract 1 1272);
  Node 1294 1 (Or 1286 1293);
  Node 1295 1 (Not 1292);
  Node 1296 1 (And 1293 1295);
  Node 1297 1 (Or 1286 1296);
  Node 1298 1 (And 1292 1294);
  Node 1299 12 (Extract 0 1290);
  Node 1300 14 (Concat 1299 86);
  Node 1301 14 (Ite 1298 1300 1290);
  Node 1302 1 (Extract 13 1301);
  Node 1303 1 (Eq 49 1302);
  Node 1304 1 (Extract 0 1272);
  Node 1305 1 (Or 1297 1304);
  Node 1309 1 (And 1303 1305);
  Node 1310 13 (Extract 0 1301);
  Node 1311 14 (Concat 1310 49);
  Node 1312 14 (Ite 1309 1311 1301);
  Node 1313 2 (Concat 1278 1287);
  Node 1314 3 (Concat 1313 1298);
  Node 1315 4 (Concat 1314 1309);
  Node 1316 5 (Zext 1315);
  Node 1317 5 (Sub 1267 1316);
  Node 1318 11 (Extract 3 1312);
  Node 1319 1 (Extract 2 1312);
  Node 1320 2 (Extract 0 1312);
  Node 1321 1 (Eq 86 1320);
  Node 1322 1 (Not 1321);
  Node 1323 1 (Extract 3 1312);
  Node 1324 1 (Or 1322 1323);
  Node 1325 1 (And 1319 1324);
  Node 1326 12 (Zext 1318);
  Node 1327 12 (Zext 1325);
  Node 1328 12 (Add 1326 1327);
  Node 1329 1 (Extract 11 1328);
  Node 1330 11 (Extract 0 1328);
  Node 1331 11 (Ite 1329 125 1330);
  Node 1332 1 (Eq 128 1331);
  Node 1333 6 (Zext 1317);
  Node 1334 6 (Zext 1329);
  Node 1335 6 (Add 1333 1334);
  Node 1336 1 (Not 1332);
  Node 1337 1 (Ult 134 1335);
  Node 1338 1 (And 1336 1337);
  Node 1339 6 (Ite 1332 71 1335);
  Node 1340 5 (Extract 0 1339);
  Node 1341 1 (Not 1262);
  Node 1342 1 (And 1338 1341);
  Node 1343 1 (Extract 10 1331);
  Node 1344 5 (Zext 1343);
  Node 1345 5 (Add 1340 1344);
  Node 1346 10 (Extract 0 1331);
  Node 1347 15 (Concat 1345 1346);
  Node 1348 16 (Concat 1253 1347);
  Node 1349 16 (Concat 1253 148);
  Node 1350 16 (Ite 1342 1349 1348);
  Node 1351 16 (Ite 1262 141 1350);
  Node 1352 4 (Extract 3 28);
  Node 1353 1 (Extract 7 28);
  Node 1354 1 (Eq 37 1352);
  Node 1355 1 (Not 1354);
  Node 1356 3 (Extract 0 28);
  Node 1357 4 (Concat 1355 1356);
  Node 1359 1 (Eq 44 1356);
  Node 1361 1 (Eq 47 1352);
  Node 1362 1 (And 1359 1361);
  Node 1363 4 (Zext 1354);
  Node 1364 4 (Or 1352 1363);
  Node 1365 14 (Concat 1357 53);
  Node 1366 5 (Zext 1364);
  Node 1367 5 (Add 56 1366);
  Node 1368 1 (Extract 4 1367);
  Node 1369 1 (Eq 49 1368);
  Node 1370 1 (Not 1369);
  Node 1371 4 (Extract 0 1367);
  Node 1372 4 (Ite 1370 47 1371);
  Node 1373 8 (Extract 6 1365);
  Node 1374 1 (Eq 65 1373);
  Node 1375 1 (Extract 3 1372);
  Node 1376 1 (Not 1374);
  Node 1377 1 (And 1375 1376);
  Node 1378 1 (And 1374 1375);
  Node 1379 14 (Ite 1378 72 1365);
  Node 1380 4 (Extract 10 1379);
  Node 1381 1 (Eq 37 1380);
  Node 1382 1 (Extract 2 1372);
  Node 1383 1 (Or 1377 1382);
  Node 1384 1 (Not 1381);
  Node 1385 1 (And 1382 1384);
  Node 1386 1 (Or 1377 1385);
  Node 1387 1 (And 1381 1383);
  Node 1388 10 (Extract 0 1379);
  Node 1389 14 (Concat 1388 37);
  Node 1390 14 (Ite 1387 1389 1379);
  Node 1391 2 (Extract 12 1390);
  Node 1392 1 (Eq 86 1391);
  Node 1393 1 (Extract 1 1372);
  Node 1394 1 (Or 1386 1393);
  Node 1395 1 (Not 1392);
  Node 1396 1 (And 1393 1395);
  Node 1397 1 (Or 1386 1396);
  Node 1398 1 (And 1392 1394);
  Node 1399 12 (Extract 0 1390);
  Node 1400 14 (Concat 1399 86);
  Node 1401 14 (Ite 1398 1400 1390);
  Node 1402 1 (Extract 13 1401);
  Node 1403 1 (Eq 49 1402);
  Node 1404 1 (Extract 0 1372);
  Node 1405 1 (Or 1397 1404);
  Node 1409 1 (And 1403 1405);
  Node 1410 13 (Extract 0 1401);
  Node 1411 14 (Concat 1410 49);
  Node 1412 14 (Ite 1409 1411 1401);
  Node 1413 2 (Concat 1378 1387);
  Node 1414 3 (Concat 1413 1398);
  Node 1415 4 (Concat 1414 1409);
  Node 1416 5 (Zext 1415);
  Node 1417 5 (Sub 1367 1416);
  Node 1418 11 (Extract 3 1412);
  Node 1419 1 (Extract 2 1412);
  Node 1420 2 (Extract 0 1412);
  Node 1421 1 (Eq 86 1420);
  Node 1422 1 (Not 1421);
  Node 1423 1 (Extract 3 1412);
  Node 1424 1 (Or 1422 1423);
  Node 1425 1 (And 1419 1424);
  Node 1426 12 (Zext 1418);
  Node 1427 12 (Zext 1425);
  Node 1428 12 (Add 1426 1427);
  Node 1429 1 (Extract 11 1428);
  Node 1430 11 (Extract 0 1428);
  Node 1431 11 (Ite 1429 125 1430);
  Node 1432 1 (Eq 128 1431);
  Node 1433 6 (Zext 1417);
  Node 1434 6 (Zext 1429);
  Node 1435 6 (Add 1433 1434);
  Node 1436 1 (Not 1432);
  Node 1437 1 (Ult 134 1435);
  Node 1438 1 (And 1436 1437);
  Node 1439 6 (Ite 1432 71 1435);
  Node 1440 5 (Extract 0 1439);
  Node 1441 1 (Not 1362);
  Node 1442 1 (And 1438 1441);
  Node 1443 1 (Extract 10 1431);
  Node 1444 5 (Zext 1443);
  Node 1445 5 (Add 1440 1444);
  Node 1446 10 (Extract 0 1431);
  Node 1447 15 (Concat 1445 1446);
  Node 1448 16 (Concat 1353 1447);
  Node 1449 16 (Concat 1353 148);
  Node 1450 16 (Ite 1442 1449 1448);
  Node 1451 16 (Ite 1362 141 1450);
  Node 1452 4 (Extract 3 30);
  Node 1453 1 (Extract 7 30);
  Node 1454 1 (Eq 37 1452);
  Node 1455 1 (Not 1454);
  Node 1456 3 (Extract 0 30);
  Node 1457 4 (Concat 1455 1456);
  Node 1459 1 (Eq 44 1456);
  Node 1461 1 (Eq 47 1452);
  Node 1462 1 (And 1459 1461);
  Node 1463 4 (Zext 1454);
  Node 1464 4 (Or 1452 1463);
  Node 1465 14 (Concat 1457 53);
  Node 1466 5 (Zext 1464);
  Node 1467 5 (Add 56 1466);
  Node 1468 1 (Extract 4 1467);
  Node 1469 1 (Eq 49 1468);
  Node 1470 1 (Not 1469);
  Node 1471 4 (Extract 0 1467);
  Node 1472 4 (Ite 1470 47 1471);
  Node 1473 8 (Extract 6 1465);
  Node 1474 1 (Eq 65 1473);
  Node 1475 1 (Extract 3 1472);
  Node 1476 1 (Not 1474);
  Node 1477 1 (And 1475 1476);
  Node 1478 1 (And 1474 1475);
  Node 1479 14 (Ite 1478 72 1465);
  Node 1480 4 (Extract 10 1479);
  Node 1481 1 (Eq 37 1480);
  Node 1482 1 (Extract 2 1472);
  Node 1483 1 (Or 1477 1482);
  Node 1484 1 (Not 1481);
  Node 1485 1 (And 1482 1484);
  Node 1486 1 (Or 1477 1485);
  Node 1487 1 (And 1481 1483);
  Node 1488 10 (Extract 0 1479);
  Node 1489 14 (Concat 1488 37);
  Node 1490 14 (Ite 1487 1489 1479);
  Node 1491 2 (Extract 12 1490);
  Node 1492 1 (Eq 86 1491);
  Node 1493 1 (Extract 1 1472);
  Node 1494 1 (Or 1486 1493);
  Node 1495 1 (Not 1492);
  Node 1496 1 (And 1493 1495);
  Node 1497 1 (Or 1486 1496);
  Node 1498 1 (And 1492 1494);
  Node 1499 12 (Extract 0 1490);
  Node 1500 14 (Concat 1499 86);
  Node 1501 14 (Ite 1498 1500 1490);
  Node 1502 1 (Extract 13 1501);
  Node 1503 1 (Eq 49 1502);
  Node 1504 1 (Extract 0 1472);
  Node 1505 1 (Or 1497 1504);
  Node 1509 1 (And 1503 1505);
  Node 1510 13 (Extract 0 1501);
  Node 1511 14 (Concat 1510 49);
  Node 1512 14 (Ite 1509 1511 1501);
  Node 1513 2 (Concat 1478 1487);
  Node 1514 3 (Concat 1513 1498);
  Node 1515 4 (Concat 1514 1509);
  Node 1516 5 (Zext 1515);
  Node 1517 5 (Sub 1467 1516);
  Node 1518 11 (Extract 3 1512);
  Node 1519 1 (Extract 2 1512);
  Node 1520 2 (Extract 0 1512);
  Node 1521 1 (Eq 86 1520);
  Node 1522 1 (Not 1521);
  Node 1523 1 (Extract 3 1512);
  Node 1524 1 (Or 1522 1523);
  Node 1525 1 (And 1519 1524);
  Node 1526 12 (Zext 1518);
  Node 1527 12 (Zext 1525);
  Node 1528 12 (Add 1526 1527);
  Node 1529 1 (Extract 11 1528);
  Node 1530 11 (Extract 0 1528);
  Node 1531 11 (Ite 1529 125 1530);
  Node 1532 1 (Eq 128 1531);
  Node 1533 6 (Zext 1517);
  Node 1534 6 (Zext 1529);
  Node 1535 6 (Add 1533 1534);
  Node 1536 1 (Not 1532);
  Node 1537 1 (Ult 134 1535);
  Node 1538 1 (And 1536 1537);
  Node 1539 6 (Ite 1532 71 1535);
  Node 1540 5 (Extract 0 1539);
  Node 1541 1 (Not 1462);
  Node 1542 1 (And 1538 1541);
  Node 1543 1 (Extract 10 1531);
  Node 1544 5 (Zext 1543);
  Node 1545 5 (Add 1540 1544);
  Node 1546 10 (Extract 0 1531);
  Node 1547 15 (Concat 1545 1546);
  Node 1548 16 (Concat 1453 1547);
  Node 1549 16 (Concat 1453 148);
  Node 1550 16 (Ite 1542 1549 1548);
  Node 1551 16 (Ite 1462 141 1550);
  Node 1552 4 (Extract 3 32);
  Node 1553 1 (Extract 7 32);
  Node 1554 1 (Eq 37 1552);
  Node 1555 1 (Not 1554);
  Node 1556 3 (Extract 0 32);
  Node 1557 4 (Concat 1555 1556);
  Node 1559 1 (Eq 44 1556);
  Node 1561 1 (Eq 47 1552);
  Node 1562 1 (And 1559 1561);
  Node 1563 4 (Zext 1554);
  Node 1564 4 (Or 1552 1563);
  Node 1565 14 (Concat 1557 53);
  Node 1566 5 (Zext 1564);
  Node 1567 5 (Add 56 1566);
  Node 1568 1 (Extract 4 1567);
  Node 1569 1 (Eq 49 1568);
  Node 1570 1 (Not 1569);
  Node 1571 4 (Extract 0 1567);
  Node 1572 4 (Ite 1570 47 1571);
  Node 1573 8 (Extract 6 1565);
  Node 1574 1 (Eq 65 1573);
  Node 1575 1 (Extract 3 1572);
  Node 1576 1 (Not 1574);
  Node 1577 1 (And 1575 1576);
  Node 1578 1 (And 1574 1575);
  Node 1579 14 (Ite 1578 72 1565);
  Node 1580 4 (Extract 10 1579);
  Node 1581 1 (Eq 37 1580);
  Node 1582 1 (Extract 2 1572);
  Node 1583 1 (Or 1577 1582);
  Node 1584 1 (Not 1581);
  Node 1585 1 (And 1582 1584);
  Node 1586 1 (Or 1577 1585);
  Node 1587 1 (And 1581 1583);
  Node 1588 10 (Extract 0 1579);
  Node 1589 14 (Concat 1588 37);
  Node 1590 14 (Ite 1587 1589 1579);
  Node 1591 2 (Extract 12 1590);
  Node 1592 1 (Eq 86 1591);
  Node 1593 1 (Extract 1 1572);
  Node 1594 1 (Or 1586 1593);
  Node 1595 1 (Not 1592);
  Node 1596 1 (And 1593 1595);
  Node 1597 1 (Or 1586 1596);
  Node 1598 1 (And 1592 1594);
  Node 1599 12 (Extract 0 1590);
  Node 1600 14 (Concat 1599 86);
  Node 1601 14 (Ite 1598 1600 1590);
  Node 1602 1 (Extract 13 1601);
  Node 1603 1 (Eq 49 1602);
  Node 1604 1 (Extract 0 1572);
  Node 1605 1 (Or 1597 1604);
  Node 1609 1 (And 1603 1605);
  Node 1610 13 (Extract 0 1601);
  Node 1611 14 (Concat 1610 49);
  Node 1612 14 (Ite 1609 1611 1601);
  Node 1613 2 (Concat 1578 1587);
  Node 1614 3 (Concat 1613 1598);
  Node 1615 4 (Concat 1614 1609);
  Node 1616 5 (Zext 1615);
  Node 1617 5 (Sub 1567 1616);
  Node 1618 11 (Extract 3 1612);
  Node 1619 1 (Extract 2 1612);
  Node 1620 2 (Extract 0 1612);
  Node 1621 1 (Eq 86 1620);
  Node 1622 1 (Not 1621);
  Node 1623 1 (Extract 3 1612);
  Node 1624 1 (Or 1622 1623);
  Node 1625 1 (And 1619 1624);
  Node 1626 12 (Zext 1618);
  Node 1627 12 (Zext 1625);
  Node 1628 12 (Add 1626 1627);
  Node 1629 1 (Extract 11 1628);
  Node 1630 11 (Extract 0 1628);
  Node 1631 11 (Ite 1629 125 1630);
  Node 1632 1 (Eq 128 1631);
  Node 1633 6 (Zext 1617);
  Node 1634 6 (Zext 1629);
  Node 1635 6 (Add 1633 1634);
  Node 1636 1 (Not 1632);
  Node 1637 1 (Ult 134 1635);
  Node 1638 1 (And 1636 1637);
  Node 1639 6 (Ite 1632 71 1635);
  Node 1640 5 (Extract 0 1639);
  Node 1641 1 (Not 1562);
  Node 1642 1 (And 1638 1641);
  Node 1643 1 (Extract 10 1631);
  Node 1644 5 (Zext 1643);
  Node 1645 5 (Add 1640 1644);
  Node 1646 10 (Extract 0 1631);
  Node 1647 15 (Concat 1645 1646);
  Node 1648 16 (Concat 1553 1647);
  Node 1649 16 (Concat 1553 148);
  Node 1650 16 (Ite 1642 1649 1648);
  Node 1651 16 (Ite 1562 141 1650);
  Node 1652 4 (Extract 3 3);
  Node 1653 1 (Extract 7 3);
  Node 1654 1 (Eq 37 1652);
  Node 1655 1 (Not 1654);
  Node 1656 3 (Extract 0 3);
  Node 1657 4 (Concat 1655 1656);
  Node 1659 1 (Eq 44 1656);
  Node 1661 1 (Eq 47 1652);
  Node 1662 1 (And 1659 1661);
  Node 1663 4 (Zext 1654);
  Node 1664 4 (Or 1652 1663);
  Node 1665 14 (Concat 1657 53);
  Node 1666 5 (Zext 1664);
  Node 1667 5 (Add 56 1666);
  Node 1668 1 (Extract 4 1667);
  Node 1669 1 (Eq 49 1668);
  Node 1670 1 (Not 1669);
  Node 1671 4 (Extract 0 1667);
  Node 1672 4 (Ite 1670 47 1671);
  Node 1673 8 (Extract 6 1665);
  Node 1674 1 (Eq 65 1673);
  Node 1675 1 (Extract 3 1672);
  Node 1676 1 (Not 1674);
  Node 1677 1 (And 1675 1676);
  Node 1678 1 (And 1674 1675);
  Node 1679 14 (Ite 1678 72 1665);
  Node 1680 4 (Extract 10 1679);
  Node 1681 1 (Eq 37 1680);
  Node 1682 1 (Extract 2 1672);
  Node 1683 1 (Or 1677 1682);
  Node 1684 1 (Not 1681);
  Node 1685 1 (And 1682 1684);
  Node 1686 1 (Or 1677 1685);
  Node 1687 1 (And 1681 1683);
  Node 1688 10 (Extract 0 1679);
  Node 1689 14 (Concat 1688 37);
  Node 1690 14 (Ite 1687 1689 1679);
  Node 1691 2 (Extract 12 1690);
  Node 1692 1 (Eq 86 1691);
  Node 1693 1 (Extract 1 1672);
  Node 1694 1 (Or 1686 1693);
  Node 1695 1 (Not 1692);
  Node 1696 1 (And 1693 1695);
  Node 1697 1 (Or 1686 1696);
  Node 1698 1 (And 1692 1694);
  Node 1699 12 (Extract 0 1690);
  Node 1700 14 (Concat 1699 86);
  Node 1701 14 (Ite 1698 1700 1690);
  Node 1702 1 (Extract 13 1701);
  Node 1703 1 (Eq 49 1702);
  Node 1704 1 (Extract 0 1672);
  Node 1705 1 (Or 1697 1704);
  Node 1709 1 (And 1703 1705);
  Node 1710 13 (Extract 0 1701);
  Node 1711 14 (Concat 1710 49);
  Node 1712 14 (Ite 1709 1711 1701);
  Node 1713 2 (Concat 1678 1687);
  Node 1714 3 (Concat 1713 1698);
  Node 1715 4 (Concat 1714 1709);
  Node 1716 5 (Zext 1715);
  Node 1717 5 (Sub 1667 1716);
  Node 1718 11 (Extract 3 1712);
  Node 1719 1 (Extract 2 1712);
  Node 1720 2 (Extract 0 1712);
  Node 1721 1 (Eq 86 1720);
  Node 1722 1 (Not 1721);
  Node 1723 1 (Extract 3 1712);
  Node 1724 1 (Or 1722 1723);
  Node 1725 1 (And 1719 1724);
  Node 1726 12 (Zext 1718);
  Node 1727 12 (Zext 1725);
  Node 1728 12 (Add 1726 1727);
  Node 1729 1 (Extract 11 1728);
  Node 1730 11 (Extract 0 1728);
  Node 1731 11 (Ite 1729 125 1730);
  Node 1732 1 (Eq 128 1731);
  Node 1733 6 (Zext 1717);
  Node 1734 6 (Zext 1729);
  Node 1735 6 (Add 1733 1734);
  Node 1736 1 (Not 1732);
  Node 1737 1 (Ult 134 1735);
  Node 1738 1 (And 1736 1737);
  Node 1739 6 (Ite 1732 71 1735);
  Node 1740 5 (Extract 0 1739);
  Node 1741 1 (Not 1662);
  Node 1742 1 (And 1738 1741);
  Node 1743 1 (Extract 10 1731);
  Node 1744 5 (Zext 1743);
  Node 1745 5 (Add 1740 1744);
  Node 1746 10 (Extract 0 1731);
  Node 1747 15 (Concat 1745 1746);
  Node 1748 16 (Concat 1653 1747);
  Node 1749 16 (Concat 1653 148);
  Node 1750 16 (Ite 1742 1749 1748);
  Node 1751 16 (Ite 1662 141 1750);
  Node 1752 4 (Extract 3 5);
  Node 1753 1 (Extract 7 5);
  Node 1754 1 (Eq 37 1752);
  Node 1755 1 (Not 1754);
  Node 1756 3 (Extract 0 5);
  Node 1757 4 (Concat 1755 1756);
  Node 1759 1 (Eq 44 1756);
  Node 1761 1 (Eq 47 1752);
  Node 1762 1 (And 1759 1761);
  Node 1763 4 (Zext 1754);
  Node 1764 4 (Or 1752 1763);
  Node 1765 14 (Concat 1757 53);
  Node 1766 5 (Zext 1764);
  Node 1767 5 (Add 56 1766);
  Node 1768 1 (Extract 4 1767);
  Node 1769 1 (Eq 49 1768);
  Node 1770 1 (Not 1769);
  Node 1771 4 (Extract 0 1767);
  Node 1772 4 (Ite 1770 47 1771);
  Node 1773 8 (Extract 6 1765);
  Node 1774 1 (Eq 65 1773);
  Node 1775 1 (Extract 3 1772);
  Node 1776 1 (Not 1774);
  Node 1777 1 (And 1775 1776);
  Node 1778 1 (And 1774 1775);
  Node 1779 14 (Ite 1778 72 1765);
  Node 1780 4 (Extract 10 1779);
  Node 1781 1 (Eq 37 1780);
  Node 1782 1 (Extract 2 1772);
  Node 1783 1 (Or 1777 1782);
  Node 1784 1 (Not 1781);
  Node 1785 1 (And 1782 1784);
  Node 1786 1 (Or 1777 1785);
  Node 1787 1 (And 1781 1783);
  Node 1788 10 (Extract 0 1779);
  Node 1789 14 (Concat 1788 37);
  Node 1790 14 (Ite 1787 1789 1779);
  Node 1791 2 (Extract 12 1790);
  Node 1792 1 (Eq 86 1791);
  Node 1793 1 (Extract 1 1772);
  Node 1794 1 (Or 1786 1793);
  Node 1795 1 (Not 1792);
  Node 1796 1 (And 1793 1795);
  Node 1797 1 (Or 1786 1796);
  Node 1798 1 (And 1792 1794);
  Node 1799 12 (Extract 0 1790);
  Node 1800 14 (Concat 1799 86);
  Node 1801 14 (Ite 1798 1800 1790);
  Node 1802 1 (Extract 13 1801);
  Node 1803 1 (Eq 49 1802);
  Node 1804 1 (Extract 0 1772);
  Node 1805 1 (Or 1797 1804);
  Node 1809 1 (And 1803 1805);
  Node 1810 13 (Extract 0 1801);
  Node 1811 14 (Concat 1810 49);
  Node 1812 14 (Ite 1809 1811 1801);
  Node 1813 2 (Concat 1778 1787);
  Node 1814 3 (Concat 1813 1798);
  Node 1815 4 (Concat 1814 1809);
  Node 1816 5 (Zext 1815);
  Node 1817 5 (Sub 1767 1816);
  Node 1818 11 (Extract 3 1812);
  Node 1819 1 (Extract 2 1812);
  Node 1820 2 (Extract 0 1812);
  Node 1821 1 (Eq 86 1820);
  Node 1822 1 (Not 1821);
  Node 1823 1 (Extract 3 1812);
  Node 1824 1 (Or 1822 1823);
  Node 1825 1 (And 1819 1824);
  Node 1826 12 (Zext 1818);
  Node 1827 12 (Zext 1825);
  Node 1828 12 (Add 1826 1827);
  Node 1829 1 (Extract 11 1828);
  Node 1830 11 (Extract 0 1828);
  Node 1831 11 (Ite 1829 125 1830);
  Node 1832 1 (Eq 128 1831);
  Node 1833 6 (Zext 1817);
  Node 1834 6 (Zext 1829);
  Node 1835 6 (Add 1833 1834);
  Node 1836 1 (Not 1832);
  Node 1837 1 (Ult 134 1835);
  Node 1838 1 (And 1836 1837);
  Node 1839 6 (Ite 1832 71 1835);
  Node 1840 5 (Extract 0 1839);
  Node 1841 1 (Not 1762);
  Node 1842 1 (And 1838 1841);
  Node 1843 1 (Extract 10 1831);
  Node 1844 5 (Zext 1843);
  Node 1845 5 (Add 1840 1844);
  Node 1846 10 (Extract 0 1831);
  Node 1847 15 (Concat 1845 1846);
  Node 1848 16 (Concat 1753 1847);
  Node 1849 16 (Concat 1753 148);
  Node 1850 16 (Ite 1842 1849 1848);
  Node 1851 16 (Ite 1762 141 1850);
  Node 1852 4 (Extract 3 7);
  Node 1853 1 (Extract 7 7);
  Node 1854 1 (Eq 37 1852);
  Node 1855 1 (Not 1854);
  Node 1856 3 (Extract 0 7);
  Node 1857 4 (Concat 1855 1856);
  Node 1859 1 (Eq 44 1856);
  Node 1861 1 (Eq 47 1852);
  Node 1862 1 (And 1859 1861);
  Node 1863 4 (Zext 1854);
  Node 1864 4 (Or 1852 1863);
  Node 1865 14 (Concat 1857 53);
  Node 1866 5 (Zext 1864);
  Node 1867 5 (Add 56 1866);
  Node 1868 1 (Extract 4 1867);
  Node 1869 1 (Eq 49 1868);
  Node 1870 1 (Not 1869);
  Node 1871 4 (Extract 0 1867);
  Node 1872 4 (Ite 1870 47 1871);
  Node 1873 8 (Extract 6 1865);
  Node 1874 1 (Eq 65 1873);
  Node 1875 1 (Extract 3 1872);
  Node 1876 1 (Not 1874);
  Node 1877 1 (And 1875 1876);
  Node 1878 1 (And 1874 1875);
  Node 1879 14 (Ite 1878 72 1865);
  Node 1880 4 (Extract 10 1879);
  Node 1881 1 (Eq 37 1880);
  Node 1882 1 (Extract 2 1872);
  Node 1883 1 (Or 1877 1882);
  Node 1884 1 (Not 1881);
  Node 1885 1 (And 1882 1884);
  Node 1886 1 (Or 1877 1885);
  Node 1887 1 (And 1881 1883);
  Node 1888 10 (Extract 0 1879);
  Node 1889 14 (Concat 1888 37);
  Node 1890 14 (Ite 1887 1889 1879);
  Node 1891 2 (Extract 12 1890);
  Node 1892 1 (Eq 86 1891);
  Node 1893 1 (Extract 1 1872);
  Node 1894 1 (Or 1886 1893);
  Node 1895 1 (Not 1892);
  Node 1896 1 (And 1893 1895);
  Node 1897 1 (Or 1886 1896);
  Node 1898 1 (And 1892 1894);
  Node 1899 12 (Extract 0 1890);
  Node 1900 14 (Concat 1899 86);
  Node 1901 14 (Ite 1898 1900 1890);
  Node 1902 1 (Extract 13 1901);
  Node 1903 1 (Eq 49 1902);
  Node 1904 1 (Extract 0 1872);
  Node 1905 1 (Or 1897 1904);
  Node 1909 1 (And 1903 1905);
  Node 1910 13 (Extract 0 1901);
  Node 1911 14 (Concat 1910 49);
  Node 1912 14 (Ite 1909 1911 1901);
  Node 1913 2 (Concat 1878 1887);
  Node 1914 3 (Concat 1913 1898);
  Node 1915 4 (Concat 1914 1909);
  Node 1916 5 (Zext 1915);
  Node 1917 5 (Sub 1867 1916);
  Node 1918 11 (Extract 3 1912);
  Node 1919 1 (Extract 2 1912);
  Node 1920 2 (Extract 0 1912);
  Node 1921 1 (Eq 86 1920);
  Node 1922 1 (Not 1921);
  Node 1923 1 (Extract 3 1912);
  Node 1924 1 (Or 1922 1923);
  Node 1925 1 (And 1919 1924);
  Node 1926 12 (Zext 1918);
  Node 1927 12 (Zext 1925);
  Node 1928 12 (Add 1926 1927);
  Node 1929 1 (Extract 11 1928);
  Node 1930 11 (Extract 0 1928);
  Node 1931 11 (Ite 1929 125 1930);
  Node 1932 1 (Eq 128 1931);
  Node 1933 6 (Zext 1917);
  Node 1934 6 (Zext 1929);
  Node 1935 6 (Add 1933 1934);
  Node 1936 1 (Not 1932);
  Node 1937 1 (Ult 134 1935);
  Node 1938 1 (And 1936 1937);
  Node 1939 6 (Ite 1932 71 1935);
  Node 1940 5 (Extract 0 1939);
  Node 1941 1 (Not 1862);
  Node 1942 1 (And 1938 1941);
  Node 1943 1 (Extract 10 1931);
  Node 1944 5 (Zext 1943);
  Node 1945 5 (Add 1940 1944);
  Node 1946 10 (Extract 0 1931);
  Node 1947 15 (Concat 1945 1946);
  Node 1948 16 (Concat 1853 1947);
  Node 1949 16 (Concat 1853 148);
  Node 1950 16 (Ite 1942 1949 1948);
  Node 1951 16 (Ite 1862 141 1950);
  Node 1952 4 (Extract 3 9);
  Node 1953 1 (Extract 7 9);
  Node 1954 1 (Eq 37 1952);
  Node 1955 1 (Not 1954);
  Node 1956 3 (Extract 0 9);
  Node 1957 4 (Concat 1955 1956);
  Node 1959 1 (Eq 44 1956);
  Node 1961 1 (Eq 47 1952);
  Node 1962 1 (And 1959 1961);
  Node 1963 4 (Zext 1954);
  Node 1964 4 (Or 1952 1963);
  Node 1965 14 (Concat 1957 53);
  Node 1966 5 (Zext 1964);
  Node 1967 5 (Add 56 1966);
  Node 1968 1 (Extract 4 1967);
  Node 1969 1 (Eq 49 1968);
  Node 1970 1 (Not 1969);
  Node 1971 4 (Extract 0 1967);
  Node 1972 4 (Ite 1970 47 1971);
  Node 1973 8 (Extract 6 1965);
  Node 1974 1 (Eq 65 1973);
  Node 1975 1 (Extract 3 1972);
  Node 1976 1 (Not 1974);
  Node 1977 1 (And 1975 1976);
  Node 1978 1 (And 1974 1975);
  Node 1979 14 (Ite 1978 72 1965);
  Node 1980 4 (Extract 10 1979);
  Node 1981 1 (Eq 37 1980);
  Node 1982 1 (Extract 2 1972);
  Node 1983 1 (Or 1977 1982);
  Node 1984 1 (Not 1981);
  Node 1985 1 (And 1982 1984);
  Node 1986 1 (Or 1977 1985);
  Node 1987 1 (And 1981 1983);
  Node 1988 10 (Extract 0 1979);
  Node 1989 14 (Concat 1988 37);
  Node 1990 14 (Ite 1987 1989 1979);
  Node 1991 2 (Extract 12 1990);
  Node 1992 1 (Eq 86 1991);
  Node 1993 1 (Extract 1 1972);
  Node 1994 1 (Or 1986 1993);
  Node 1995 1 (Not 1992);
  Node 1996 1 (And 1993 1995);
  Node 1997 1 (Or 1986 1996);
  Node 1998 1 (And 1992 1994);
  Node 1999 12 (Extract 0 1990);
  Node 2000 14 (Concat 1999 86);
  Node 2001 14 (Ite 1998 2000 1990);
  Node 2002 1 (Extract 13 2001);
  Node 2003 1 (Eq 49 2002);
  Node 2004 1 (Extract 0 1972);
  Node 2005 1 (Or 1997 2004);
  Node 2009 1 (And 2003 2005);
  Node 2010 13 (Extract 0 2001);
  Node 2011 14 (Concat 2010 49);
  Node 2012 14 (Ite 2009 2011 2001);
  Node 2013 2 (Concat 1978 1987);
  Node 2014 3 (Concat 2013 1998);
  Node 2015 4 (Concat 2014 2009);
  Node 2016 5 (Zext 2015);
  Node 2017 5 (Sub 1967 2016);
  Node 2018 11 (Extract 3 2012);
  Node 2019 1 (Extract 2 2012);
  Node 2020 2 (Extract 0 2012);
  Node 2021 1 (Eq 86 2020);
  Node 2022 1 (Not 2021);
  Node 2023 1 (Extract 3 2012);
  Node 2024 1 (Or 2022 2023);
  Node 2025 1 (And 2019 2024);
  Node 2026 12 (Zext 2018);
  Node 2027 12 (Zext 2025);
  Node 2028 12 (Add 2026 2027);
  Node 2029 1 (Extract 11 2028);
  Node 2030 11 (Extract 0 2028);
  Node 2031 11 (Ite 2029 125 2030);
  Node 2032 1 (Eq 128 2031);
  Node 2033 6 (Zext 2017);
  Node 2034 6 (Zext 2029);
  Node 2035 6 (Add 2033 2034);
  Node 2036 1 (Not 2032);
  Node 2037 1 (Ult 134 2035);
  Node 2038 1 (And 2036 2037);
  Node 2039 6 (Ite 2032 71 2035);
  Node 2040 5 (Extract 0 2039);
  Node 2041 1 (Not 1962);
  Node 2042 1 (And 2038 2041);
  Node 2043 1 (Extract 10 2031);
  Node 2044 5 (Zext 2043);
  Node 2045 5 (Add 2040 2044);
  Node 2046 10 (Extract 0 2031);
  Node 2047 15 (Concat 2045 2046);
  Node 2048 16 (Concat 1953 2047);
  Node 2049 16 (Concat 1953 148);
  Node 2050 16 (Ite 2042 2049 2048);
  Node 2051 16 (Ite 1962 141 2050);
  Node 2052 4 (Extract 3 11);
  Node 2053 1 (Extract 7 11);
  Node 2054 1 (Eq 37 2052);
  Node 2055 1 (Not 2054);
  Node 2056 3 (Extract 0 11);
  Node 2057 4 (Concat 2055 2056);
  Node 2059 1 (Eq 44 2056);
  Node 2061 1 (Eq 47 2052);
  Node 2062 1 (And 2059 2061);
  Node 2063 4 (Zext 2054);
  Node 2064 4 (Or 2052 2063);
  Node 2065 14 (Concat 2057 53);
  Node 2066 5 (Zext 2064);
  Node 2067 5 (Add 56 2066);
  Node 2068 1 (Extract 4 2067);
  Node 2069 1 (Eq 49 2068);
  Node 2070 1 (Not 2069);
  Node 2071 4 (Extract 0 2067);
  Node 2072 4 (Ite 2070 47 2071);
  Node 2073 8 (Extract 6 2065);
  Node 2074 1 (Eq 65 2073);
  Node 2075 1 (Extract 3 2072);
  Node 2076 1 (Not 2074);
  Node 2077 1 (And 2075 2076);
  Node 2078 1 (And 2074 2075);
  Node 2079 14 (Ite 2078 72 2065);
  Node 2080 4 (Extract 10 2079);
  Node 2081 1 (Eq 37 2080);
  Node 2082 1 (Extract 2 2072);
  Node 2083 1 (Or 2077 2082);
  Node 2084 1 (Not 2081);
  Node 2085 1 (And 2082 2084);
  Node 2086 1 (Or 2077 2085);
  Node 2087 1 (And 2081 2083);
  Node 2088 10 (Extract 0 2079);
  Node 2089 14 (Concat 2088 37);
  Node 2090 14 (Ite 2087 2089 2079);
  Node 2091 2 (Extract 12 2090);
  Node 2092 1 (Eq 86 2091);
  Node 2093 1 (Extract 1 2072);
  Node 2094 1 (Or 2086 2093);
  Node 2095 1 (Not 2092);
  Node 2096 1 (And 2093 2095);
  Node 2097 1 (Or 2086 2096);
  Node 2098 1 (And 2092 2094);
  Node 2099 12 (Extract 0 2090);
  Node 2100 14 (Concat 2099 86);
  Node 2101 14 (Ite 2098 2100 2090);
  Node 2102 1 (Extract 13 2101);
  Node 2103 1 (Eq 49 2102);
  Node 2104 1 (Extract 0 2072);
  Node 2105 1 (Or 2097 2104);
  Node 2109 1 (And 2103 2105);
  Node 2110 13 (Extract 0 2101);
  Node 2111 14 (Concat 2110 49);
  Node 2112 14 (Ite 2109 2111 2101);
  Node 2113 2 (Concat 2078 2087);
  Node 2114 3 (Concat 2113 2098);
  Node 2115 4 (Concat 2114 2109);
  Node 2116 5 (Zext 2115);
  Node 2117 5 (Sub 2067 2116);
  Node 2118 11 (Extract 3 2112);
  Node 2119 1 (Extract 2 2112);
  Node 2120 2 (Extract 0 2112);
  Node 2121 1 (Eq 86 2120);
  Node 2122 1 (Not 2121);
  Node 2123 1 (Extract 3 2112);
  Node 2124 1 (Or 2122 2123);
  Node 2125 1 (And 2119 2124);
  Node 2126 12 (Zext 2118);
  Node 2127 12 (Zext 2125);
  Node 2128 12 (Add 2126 2127);
  Node 2129 1 (Extract 11 2128);
  Node 2130 11 (Extract 0 2128);
  Node 2131 11 (Ite 2129 125 2130);
  Node 2132 1 (Eq 128 2131);
  Node 2133 6 (Zext 2117);
  Node 2134 6 (Zext 2129);
  Node 2135 6 (Add 2133 2134);
  Node 2136 1 (Not 2132);
  Node 2137 1 (Ult 134 2135);
  Node 2138 1 (And 2136 2137);
  Node 2139 6 (Ite 2132 71 2135);
  Node 2140 5 (Extract 0 2139);
  Node 2141 1 (Not 2062);
  Node 2142 1 (And 2138 2141);
  Node 2143 1 (Extract 10 2131);
  Node 2144 5 (Zext 2143);
  Node 2145 5 (Add 2140 2144);
  Node 2146 10 (Extract 0 2131);
  Node 2147 15 (Concat 2145 2146);
  Node 2148 16 (Concat 2053 2147);
  Node 2149 16 (Concat 2053 148);
  Node 2150 16 (Ite 2142 2149 2148);
  Node 2151 16 (Ite 2062 141 2150);
  Node 2152 4 (Extract 3 13);
  Node 2153 1 (Extract 7 13);
  Node 2154 1 (Eq 37 2152);
  Node 2155 1 (Not 2154);
  Node 2156 3 (Extract 0 13);
  Node 2157 4 (Concat 2155 2156);
  Node 2159 1 (Eq 44 2156);
  Node 2161 1 (Eq 47 2152);
  Node 2162 1 (And 2159 2161);
  Node 2163 4 (Zext 2154);
  Node 2164 4 (Or 2152 2163);
  Node 2165 14 (Concat 2157 53);
  Node 2166 5 (Zext 2164);
  Node 2167 5 (Add 56 2166);
  Node 2168 1 (Extract 4 2167);
  Node 2169 1 (Eq 49 2168);
  Node 2170 1 (Not 2169);
  Node 2171 4 (Extract 0 2167);
  Node 2172 4 (Ite 2170 47 2171);
  Node 2173 8 (Extract 6 2165);
  Node 2174 1 (Eq 65 2173);
  Node 2175 1 (Extract 3 2172);
  Node 2176 1 (Not 2174);
  Node 2177 1 (And 2175 2176);
  Node 2178 1 (And 2174 2175);
  Node 2179 14 (Ite 2178 72 2165);
  Node 2180 4 (Extract 10 2179);
  Node 2181 1 (Eq 37 2180);
  Node 2182 1 (Extract 2 2172);
  Node 2183 1 (Or 2177 2182);
  Node 2184 1 (Not 2181);
  Node 2185 1 (And 2182 2184);
  Node 2186 1 (Or 2177 2185);
  Node 2187 1 (And 2181 2183);
  Node 2188 10 (Extract 0 2179);
  Node 2189 14 (Concat 2188 37);
  Node 2190 14 (Ite 2187 2189 2179);
  Node 2191 2 (Extract 12 2190);
  Node 2192 1 (Eq 86 2191);
  Node 2193 1 (Extract 1 2172);
  Node 2194 1 (Or 2186 2193);
  Node 2195 1 (Not 2192);
  Node 2196 1 (And 2193 2195);
  Node 2197 1 (Or 2186 2196);
  Node 2198 1 (And 2192 2194);
  Node 2199 12 (Extract 0 2190);
  Node 2200 14 (Concat 2199 86);
  Node 2201 14 (Ite 2198 2200 2190);
  Node 2202 1 (Extract 13 2201);
  Node 2203 1 (Eq 49 2202);
  Node 2204 1 (Extract 0 2172);
  Node 2205 1 (Or 2197 2204);
  Node 2209 1 (And 2203 2205);
  Node 2210 13 (Extract 0 2201);
  Node 2211 14 (Concat 2210 49);
  Node 2212 14 (Ite 2209 2211 2201);
  Node 2213 2 (Concat 2178 2187);
  Node 2214 3 (Concat 2213 2198);
  Node 2215 4 (Concat 2214 2209);
  Node 2216 5 (Zext 2215);
  Node 2217 5 (Sub 2167 2216);
  Node 2218 11 (Extract 3 2212);
  Node 2219 1 (Extract 2 2212);
  Node 2220 2 (Extract 0 2212);
  Node 2221 1 (Eq 86 2220);
  Node 2222 1 (Not 2221);
  Node 2223 1 (Extract 3 2212);
  Node 2224 1 (Or 2222 2223);
  Node 2225 1 (And 2219 2224);
  Node 2226 12 (Zext 2218);
  Node 2227 12 (Zext 2225);
  Node 2228 12 (Add 2226 2227);
  Node 2229 1 (Extract 11 2228);
  Node 2230 11 (Extract 0 2228);
  Node 2231 11 (Ite 2229 125 2230);
  Node 2232 1 (Eq 128 2231);
  Node 2233 6 (Zext 2217);
  Node 2234 6 (Zext 2229);
  Node 2235 6 (Add 2233 2234);
  Node 2236 1 (Not 2232);
  Node 2237 1 (Ult 134 2235);
  Node 2238 1 (And 2236 2237);
  Node 2239 6 (Ite 2232 71 2235);
  Node 2240 5 (Extract 0 2239);
  Node 2241 1 (Not 2162);
  Node 2242 1 (And 2238 2241);
  Node 2243 1 (Extract 10 2231);
  Node 2244 5 (Zext 2243);
  Node 2245 5 (Add 2240 2244);
  Node 2246 10 (Extract 0 2231);
  Node 2247 15 (Concat 2245 2246);
  Node 2248 16 (Concat 2153 2247);
  Node 2249 16 (Concat 2153 148);
  Node 2250 16 (Ite 2242 2249 2248);
  Node 2251 16 (Ite 2162 141 2250);
  Node 2252 4 (Extract 3 15);
  Node 2253 1 (Extract 7 15);
  Node 2254 1 (Eq 37 2252);
  Node 2255 1 (Not 2254);
  Node 2256 3 (Extract 0 15);
  Node 2257 4 (Concat 2255 2256);
  Node 2259 1 (Eq 44 2256);
  Node 2261 1 (Eq 47 2252);
  Node 2262 1 (And 2259 2261);
  Node 2263 4 (Zext 2254);
  Node 2264 4 (Or 2252 2263);
  Node 2265 14 (Concat 2257 53);
  Node 2266 5 (Zext 2264);
  Node 2267 5 (Add 56 2266);
  Node 2268 1 (Extract 4 2267);
  Node 2269 1 (Eq 49 2268);
  Node 2270 1 (Not 2269);
  Node 2271 4 (Extract 0 2267);
  Node 2272 4 (Ite 2270 47 2271);
  Node 2273 8 (Extract 6 2265);
  Node 2274 1 (Eq 65 2273);
  Node 2275 1 (Extract 3 2272);
  Node 2276 1 (Not 2274);
  Node 2277 1 (And 2275 2276);
  Node 2278 1 (And 2274 2275);
  Node 2279 14 (Ite 2278 72 2265);
  Node 2280 4 (Extract 10 2279);
  Node 2281 1 (Eq 37 2280);
  Node 2282 1 (Extract 2 2272);
  Node 2283 1 (Or 2277 2282);
  Node 2284 1 (Not 2281);
  Node 2285 1 (And 2282 2284);
  Node 2286 1 (Or 2277 2285);
  Node 2287 1 (And 2281 2283);
  Node 2288 10 (Extract 0 2279);
  Node 2289 14 (Concat 2288 37);
  Node 2290 14 (Ite 2287 2289 2279);
  Node 2291 2 (Extract 12 2290);
  Node 2292 1 (Eq 86 2291);
  Node 2293 1 (Extract 1 2272);
  Node 2294 1 (Or 2286 2293);
  Node 2295 1 (Not 2292);
  Node 2296 1 (And 2293 2295);
  Node 2297 1 (Or 2286 2296);
  Node 2298 1 (And 2292 2294);
  Node 2299 12 (Extract 0 2290);
  Node 2300 14 (Concat 2299 86);
  Node 2301 14 (Ite 2298 2300 2290);
  Node 2302 1 (Extract 13 2301);
  Node 2303 1 (Eq 49 2302);
  Node 2304 1 (Extract 0 2272);
  Node 2305 1 (Or 2297 2304);
  Node 2309 1 (And 2303 2305);
  Node 2310 13 (Extract 0 2301);
  Node 2311 14 (Concat 2310 49);
  Node 2312 14 (Ite 2309 2311 2301);
  Node 2313 2 (Concat 2278 2287);
  Node 2314 3 (Concat 2313 2298);
  Node 2315 4 (Concat 2314 2309);
  Node 2316 5 (Zext 2315);
  Node 2317 5 (Sub 2267 2316);
  Node 2318 11 (Extract 3 2312);
  Node 2319 1 (Extract 2 2312);
  Node 2320 2 (Extract 0 2312);
  Node 2321 1 (Eq 86 2320);
  Node 2322 1 (Not 2321);
  Node 2323 1 (Extract 3 2312);
  Node 2324 1 (Or 2322 2323);
  Node 2325 1 (And 2319 2324);
  Node 2326 12 (Zext 2318);
  Node 2327 12 (Zext 2325);
  Node 2328 12 (Add 2326 2327);
  Node 2329 1 (Extract 11 2328);
  Node 2330 11 (Extract 0 2328);
  Node 2331 11 (Ite 2329 125 2330);
  Node 2332 1 (Eq 128 2331);
  Node 2333 6 (Zext 2317);
  Node 2334 6 (Zext 2329);
  Node 2335 6 (Add 2333 2334);
  Node 2336 1 (Not 2332);
  Node 2337 1 (Ult 134 2335);
  Node 2338 1 (And 2336 2337);
  Node 2339 6 (Ite 2332 71 2335);
  Node 2340 5 (Extract 0 2339);
  Node 2341 1 (Not 2262);
  Node 2342 1 (And 2338 2341);
  Node 2343 1 (Extract 10 2331);
  Node 2344 5 (Zext 2343);
  Node 2345 5 (Add 2340 2344);
  Node 2346 10 (Extract 0 2331);
  Node 2347 15 (Concat 2345 2346);
  Node 2348 16 (Concat 2253 2347);
  Node 2349 16 (Concat 2253 148);
  Node 2350 16 (Ite 2342 2349 2348);
  Node 2351 16 (Ite 2262 141 2350);
  Node 2352 4 (Extract 3 17);
  Node 2353 1 (Extract 7 17);
  Node 2354 1 (Eq 37 2352);
  Node 2355 1 (Not 2354);
  Node 2356 3 (Extract 0 17);
  Node 2357 4 (Concat 2355 2356);
  Node 2359 1 (Eq 44 2356);
  Node 2361 1 (Eq 47 2352);
  Node 2362 1 (And 2359 2361);
  Node 2363 4 (Zext 2354);
  Node 2364 4 (Or 2352 2363);
  Node 2365 14 (Concat 2357 53);
  Node 2366 5 (Zext 2364);
  Node 2367 5 (Add 56 2366);
  Node 2368 1 (Extract 4 2367);
  Node 2369 1 (Eq 49 2368);
  Node 2370 1 (Not 2369);
  Node 2371 4 (Extract 0 2367);
  Node 2372 4 (Ite 2370 47 2371);
  Node 2373 8 (Extract 6 2365);
  Node 2374 1 (Eq 65 2373);
  Node 2375 1 (Extract 3 2372);
  Node 2376 1 (Not 2374);
  Node 2377 1 (And 2375 2376);
  Node 2378 1 (And 2374 2375);
  Node 2379 14 (Ite 2378 72 2365);
  Node 2380 4 (Extract 10 2379);
  Node 2381 1 (Eq 37 2380);
  Node 2382 1 (Extract 2 2372);
  Node 2383 1 (Or 2377 2382);
  Node 2384 1 (Not 2381);
  Node 2385 1 (And 2382 2384);
  Node 2386 1 (Or 2377 2385);
  Node 2387 1 (And 2381 2383);
  Node 2388 10 (Extract 0 2379);
  Node 2389 14 (Concat 2388 37);
  Node 2390 14 (Ite 2387 2389 2379);
  Node 2391 2 (Extract 12 2390);
  Node 2392 1 (Eq 86 2391);
  Node 2393 1 (Extract 1 2372);
  Node 2394 1 (Or 2386 2393);
  Node 2395 1 (Not 2392);
  Node 2396 1 (And 2393 2395);
  Node 2397 1 (Or 2386 2396);
  Node 2398 1 (And 2392 2394);
  Node 2399 12 (Extract 0 2390);
  Node 2400 14 (Concat 2399 86);
  Node 2401 14 (Ite 2398 2400 2390);
  Node 2402 1 (Extract 13 2401);
  Node 2403 1 (Eq 49 2402);
  Node 2404 1 (Extract 0 2372);
  Node 2405 1 (Or 2397 2404);
  Node 2409 1 (And 2403 2405);
  Node 2410 13 (Extract 0 2401);
  Node 2411 14 (Concat 2410 49);
  Node 2412 14 (Ite 2409 2411 2401);
  Node 2413 2 (Concat 2378 2387);
  Node 2414 3 (Concat 2413 2398);
  Node 2415 4 (Concat 2414 2409);
  Node 2416 5 (Zext 2415);
  Node 2417 5 (Sub 2367 2416);
  Node 2418 11 (Extract 3 2412);
  Node 2419 1 (Extract 2 2412);
  Node 2420 2 (Extract 0 2412);
  Node 2421 1 (Eq 86 2420);
  Node 2422 1 (Not 2421);
  Node 2423 1 (Extract 3 2412);
  Node 2424 1 (Or 2422 2423);
  Node 2425 1 (And 2419 2424);
  Node 2426 12 (Zext 2418);
  Node 2427 12 (Zext 2425);
  Node 2428 12 (Add 2426 2427);
  Node 2429 1 (Extract 11 2428);
  Node 2430 11 (Extract 0 2428);
  Node 2431 11 (Ite 2429 125 2430);
  Node 2432 1 (Eq 128 2431);
  Node 2433 6 (Zext 2417);
  Node 2434 6 (Zext 2429);
  Node 2435 6 (Add 2433 2434);
  Node 2436 1 (Not 2432);
  Node 2437 1 (Ult 134 2435);
  Node 2438 1 (And 2436 2437);
  Node 2439 6 (Ite 2432 71 2435);
  Node 2440 5 (Extract 0 2439);
  Node 2441 1 (Not 2362);
  Node 2442 1 (And 2438 2441);
  Node 2443 1 (Extract 10 2431);
  Node 2444 5 (Zext 2443);
  Node 2445 5 (Add 2440 2444);
  Node 2446 10 (Extract 0 2431);
  Node 2447 15 (Concat 2445 2446);
  Node 2448 16 (Concat 2353 2447);
  Node 2449 16 (Concat 2353 148);
  Node 2450 16 (Ite 2442 2449 2448);
  Node 2451 16 (Ite 2362 141 2450);
  Node 2452 4 (Extract 3 19);
  Node 2453 1 (Extract 7 19);
  Node 2454 1 (Eq 37 2452);
  Node 2455 1 (Not 2454);
  Node 2456 3 (Extract 0 19);
  Node 2457 4 (Concat 2455 2456);
  Node 2459 1 (Eq 44 2456);
  Node 2461 1 (Eq 47 2452);
  Node 2462 1 (And 2459 2461);
  Node 2463 4 (Zext 2454);
  Node 2464 4 (Or 2452 2463);
  Node 2465 14 (Concat 2457 53);
  Node 2466 5 (Zext 2464);
  Node 2467 5 (Add 56 2466);
  Node 2468 1 (Extract 4 2467);
  Node 2469 1 (Eq 49 2468);
  Node 2470 1 (Not 2469);
  Node 2471 4 (Extract 0 2467);
  Node 2472 4 (Ite 2470 47 2471);
  Node 2473 8 (Extract 6 2465);
  Node 2474 1 (Eq 65 2473);
  Node 2475 1 (Extract 3 2472);
  Node 2476 1 (Not 2474);
  Node 2477 1 (And 2475 2476);
  Node 2478 1 (And 2474 2475);
  Node 2479 14 (Ite 2478 72 2465);
  Node 2480 4 (Extract 10 2479);
  Node 2481 1 (Eq 37 2480);
  Node 2482 1 (Extract 2 2472);
  Node 2483 1 (Or 2477 2482);
  Node 2484 1 (Not 2481);
  Node 2485 1 (And 2482 2484);
  Node 2486 1 (Or 2477 2485);
  Node 2487 1 (And 2481 2483);
  Node 2488 10 (Extract 0 2479);
  Node 2489 14 (Concat 2488 37);
  Node 2490 14 (Ite 2487 2489 2479);
  Node 2491 2 (Extract 12 2490);
  Node 2492 1 (Eq 86 2491);
  Node 2493 1 (Extract 1 2472);
  Node 2494 1 (Or 2486 2493);
  Node 2495 1 (Not 2492);
  Node 2496 1 (And 2493 2495);
  Node 2497 1 (Or 2486 2496);
  Node 2498 1 (And 2492 2494);
  Node 2499 12 (Extract 0 2490);
  Node 2500 14 (Concat 2499 86);
  Node 2501 14 (Ite 2498 2500 2490);
  Node 2502 1 (Extract 13 2501);
  Node 2503 1 (Eq 49 2502);
  Node 2504 1 (Extract 0 2472);
  Node 2505 1 (Or 2497 2504);
  Node 2509 1 (And 2503 2505);
  Node 2510 13 (Extract 0 2501);
  Node 2511 14 (Concat 2510 49);
  Node 2512 14 (Ite 2509 2511 2501);
  Node 2513 2 (Concat 2478 2487);
  Node 2514 3 (Concat 2513 2498);
  Node 2515 4 (Concat 2514 2509);
  Node 2516 5 (Zext 2515);
  Node 2517 5 (Sub 2467 2516);
  Node 2518 11 (Extract 3 2512);
  Node 2519 1 (Extract 2 2512);
  Node 2520 2 (Extract 0 2512);
  Node 2521 1 (Eq 86 2520);
  Node 2522 1 (Not 2521);
  Node 2523 1 (Extract 3 2512);
  Node 2524 1 (Or 2522 2523);
  Node 2525 1 (And 2519 2524);
  Node 2526 12 (Zext 2518);
  Node 2527 12 (Zext 2525);
  Node 2528 12 (Add 2526 2527);
  Node 2529 1 (Extract 11 2528);
  Node 2530 11 (Extract 0 2528);
  Node 2531 11 (Ite 2529 125 2530);
  Node 2532 1 (Eq 128 2531);
  Node 2533 6 (Zext 2517);
  Node 2534 6 (Zext 2529);
  Node 2535 6 (Add 2533 2534);
  Node 2536 1 (Not 2532);
  Node 2537 1 (Ult 134 2535);
  Node 2538 1 (And 2536 2537);
  Node 2539 6 (Ite 2532 71 2535);
  Node 2540 5 (Extract 0 2539);
  Node 2541 1 (Not 2462);
  Node 2542 1 (And 2538 2541);
  Node 2543 1 (Extract 10 2531);
  Node 2544 5 (Zext 2543);
  Node 2545 5 (Add 2540 2544);
  Node 2546 10 (Extract 0 2531);
  Node 2547 15 (Concat 2545 2546);
  Node 2548 16 (Concat 2453 2547);
  Node 2549 16 (Concat 2453 148);
  Node 2550 16 (Ite 2542 2549 2548);
  Node 2551 16 (Ite 2462 141 2550);
  Node 2552 4 (Extract 3 21);
  Node 2553 1 (Extract 7 21);
  Node 2554 1 (Eq 37 2552);
  Node 2555 1 (Not 2554);
  Node 2556 3 (Extract 0 21);
  Node 2557 4 (Concat 2555 2556);
  Node 2559 1 (Eq 44 2556);
  Node 2561 1 (Eq 47 2552);
  Node 2562 1 (And 2559 2561);
  Node 2563 4 (Zext 2554);
  Node 2564 4 (Or 2552 2563);
  Node 2565 14 (Concat 2557 53);
  Node 2566 5 (Zext 2564);
  Node 2567 5 (Add 56 2566);
  Node 2568 1 (Extract 4 2567);
  Node 2569 1 (Eq 49 2568);
  Node 2570 1 (Not 2569);
  Node 2571 4 (Extract 0 2567);
  Node 2572 4 (Ite 2570 47 2571);
  Node 2573 8 (Extract 6 2565);
  Node 2574 1 (Eq 65 2573);
  Node 2575 1 (Extract 3 2572);
  Node 2576 1 (Not 2574);
  Node 2577 1 (And 2575 2576);
  Node 2578 1 (And 2574 2575);
  Node 2579 14 (Ite 2578 72 2565);
  Node 2580 4 (Extract 10 2579);
  Node 2581 1 (Eq 37 2580);
  Node 2582 1 (Extract 2 2572);
  Node 2583 1 (Or 2577 2582);
  Node 2584 1 (Not 2581);
  Node 2585 1 (And 2582 2584);
  Node 2586 1 (Or 2577 2585);
  Node 2587 1 (And 2581 2583);
  Node 2588 10 (Extract 0 2579);
  Node 2589 14 (Concat 2588 37);
  Node 2590 14 (Ite 2587 2589 2579);
  Node 2591 2 (Extract 12 2590);
  Node 2592 1 (Eq 86 2591);
  Node 2593 1 (Extract 1 2572);
  Node 2594 1 (Or 2586 2593);
  Node 2595 1 (Not 2592);
  Node 2596 1 (And 2593 2595);
  Node 2597 1 (Or 2586 2596);
  Node 2598 1 (And 2592 2594);
  Node 2599 12 (Extract 0 2590);
  Node 2600 14 (Concat 2599 86);
  Node 2601 14 (Ite 2598 2600 2590);
  Node 2602 1 (Extract 13 2601);
  Node 2603 1 (Eq 49 2602);
  Node 2604 1 (Extract 0 2572);
  Node 2605 1 (Or 2597 2604);
  Node 2609 1 (And 2603 2605);
  Node 2610 13 (Extract 0 2601);
  Node 2611 14 (Concat 2610 49);
  Node 2612 14 (Ite 2609 2611 2601);
  Node 2613 2 (Concat 2578 2587);
  Node 2614 3 (Concat 2613 2598);
  Node 2615 4 (Concat 2614 2609);
  Node 2616 5 (Zext 2615);
  Node 2617 5 (Sub 2567 2616);
  Node 2618 11 (Extract 3 2612);
  Node 2619 1 (Extract 2 2612);
  Node 2620 2 (Extract 0 2612);
  Node 2621 1 (Eq 86 2620);
  Node 2622 1 (Not 2621);
  Node 2623 1 (Extract 3 2612);
  Node 2624 1 (Or 2622 2623);
  Node 2625 1 (And 2619 2624);
  Node 2626 12 (Zext 2618);
  Node 2627 12 (Zext 2625);
  Node 2628 12 (Add 2626 2627);
  Node 2629 1 (Extract 11 2628);
  Node 2630 11 (Extract 0 2628);
  Node 2631 11 (Ite 2629 125 2630);
  Node 2632 1 (Eq 128 2631);
  Node 2633 6 (Zext 2617);
  Node 2634 6 (Zext 2629);
  Node 2635 6 (Add 2633 2634);
  Node 2636 1 (Not 2632);
  Node 2637 1 (Ult 134 2635);
  Node 2638 1 (And 2636 2637);
  Node 2639 6 (Ite 2632 71 2635);
  Node 2640 5 (Extract 0 2639);
  Node 2641 1 (Not 2562);
  Node 2642 1 (And 2638 2641);
  Node 2643 1 (Extract 10 2631);
  Node 2644 5 (Zext 2643);
  Node 2645 5 (Add 2640 2644);
  Node 2646 10 (Extract 0 2631);
  Node 2647 15 (Concat 2645 2646);
  Node 2648 16 (Concat 2553 2647);
  Node 2649 16 (Concat 2553 148);
  Node 2650 16 (Ite 2642 2649 2648);
  Node 2651 16 (Ite 2562 141 2650);
  Node 2652 4 (Extract 3 23);
  Node 2653 1 (Extract 7 23);
  Node 2654 1 (Eq 37 2652);
  Node 2655 1 (Not 2654);
  Node 2656 3 (Extract 0 23);
  Node 2657 4 (Concat 2655 2656);
  Node 2659 1 (Eq 44 2656);
  Node 2661 1 (Eq 47 2652);
  Node 2662 1 (And 2659 2661);
  Node 2663 4 (Zext 2654);
  Node 2664 4 (Or 2652 2663);
  Node 2665 14 (Concat 2657 53);
  Node 2666 5 (Zext 2664);
  Node 2667 5 (Add 56 2666);
  Node 2668 1 (Extract 4 2667);
  Node 2669 1 (Eq 49 2668);
  Node 2670 1 (Not 2669);
  Node 2671 4 (Extract 0 2667);
  Node 2672 4 (Ite 2670 47 2671);
  Node 2673 8 (Extract 6 2665);
  Node 2674 1 (Eq 65 2673);
  Node 2675 1 (Extract 3 2672);
  Node 2676 1 (Not 2674);
  Node 2677 1 (And 2675 2676);
  Node 2678 1 (And 2674 2675);
  Node 2679 14 (Ite 2678 72 2665);
  Node 2680 4 (Extract 10 2679);
  Node 2681 1 (Eq 37 2680);
  Node 2682 1 (Extract 2 2672);
  Node 2683 1 (Or 2677 2682);
  Node 2684 1 (Not 2681);
  Node 2685 1 (And 2682 2684);
  Node 2686 1 (Or 2677 2685);
  Node 2687 1 (And 2681 2683);
  Node 2688 10 (Extract 0 2679);
  Node 2689 14 (Concat 2688 37);
  Node 2690 14 (Ite 2687 2689 2679);
  Node 2691 2 (Extract 12 2690);
  Node 2692 1 (Eq 86 2691);
  Node 2693 1 (Extract 1 2672);
  Node 2694 1 (Or 2686 2693);
  Node 2695 1 (Not 2692);
  Node 2696 1 (And 2693 2695);
  Node 2697 1 (Or 2686 2696);
  Node 2698 1 (And 2692 2694);
  Node 2699 12 (Extract 0 2690);
  Node 2700 14 (Concat 2699 86);
  Node 2701 14 (Ite 2698 2700 2690);
  Node 2702 1 (Extract 13 2701);
  Node 2703 1 (Eq 49 2702);
  Node 2704 1 (Extract 0 2672);
  Node 2705 1 (Or 2697 2704);
  Node 2709 1 (And 2703 2705);
  Node 2710 13 (Extract 0 2701);
  Node 2711 14 (Concat 2710 49);
  Node 2712 14 (Ite 2709 2711 2701);
  Node 2713 2 (Concat 2678 2687);
  Node 2714 3 (Concat 2713 2698);
  Node 2715 4 (Concat 2714 2709);
  Node 2716 5 (Zext 2715);
  Node 2717 5 (Sub 2667 2716);
  Node 2718 11 (Extract 3 2712);
  Node 2719 1 (Extract 2 2712);
  Node 2720 2 (Extract 0 2712);
  Node 2721 1 (Eq 86 2720);
  Node 2722 1 (Not 2721);
  Node 2723 1 (Extract 3 2712);
  Node 2724 1 (Or 2722 2723);
  Node 2725 1 (And 2719 2724);
  Node 2726 12 (Zext 2718);
  Node 2727 12 (Zext 2725);
  Node 2728 12 (Add 2726 2727);
  Node 2729 1 (Extract 11 2728);
  Node 2730 11 (Extract 0 2728);
  Node 2731 11 (Ite 2729 125 2730);
  Node 2732 1 (Eq 128 2731);
  Node 2733 6 (Zext 2717);
  Node 2734 6 (Zext 2729);
  Node 2735 6 (Add 2733 2734);
  Node 2736 1 (Not 2732);
  Node 2737 1 (Ult 134 2735);
  Node 2738 1 (And 2736 2737);
  Node 2739 6 (Ite 2732 71 2735);
  Node 2740 5 (Extract 0 2739);
  Node 2741 1 (Not 2662);
  Node 2742 1 (And 2738 2741);
  Node 2743 1 (Extract 10 2731);
  Node 2744 5 (Zext 2743);
  Node 2745 5 (Add 2740 2744);
  Node 2746 10 (Extract 0 2731);
  Node 2747 15 (Concat 2745 2746);
  Node 2748 16 (Concat 2653 2747);
  Node 2749 16 (Concat 2653 148);
  Node 2750 16 (Ite 2742 2749 2748);
  Node 2751 16 (Ite 2662 141 2750);
  Node 2752 4 (Extract 3 25);
  Node 2753 1 (Extract 7 25);
  Node 2754 1 (Eq 37 2752);
  Node 2755 1 (Not 2754);
  Node 2756 3 (Extract 0 25);
  Node 2757 4 (Concat 2755 2756);
  Node 2759 1 (Eq 44 2756);
  Node 2761 1 (Eq 47 2752);
  Node 2762 1 (And 2759 2761);
  Node 2763 4 (Zext 2754);
  Node 2764 4 (Or 2752 2763);
  Node 2765 14 (Concat 2757 53);
  Node 2766 5 (Zext 2764);
  Node 2767 5 (Add 56 2766);
  Node 2768 1 (Extract 4 2767);
  Node 2769 1 (Eq 49 2768);
  Node 2770 1 (Not 2769);
  Node 2771 4 (Extract 0 2767);
  Node 2772 4 (Ite 2770 47 2771);
  Node 2773 8 (Extract 6 2765);
  Node 2774 1 (Eq 65 2773);
  Node 2775 1 (Extract 3 2772);
  Node 2776 1 (Not 2774);
  Node 2777 1 (And 2775 2776);
  Node 2778 1 (And 2774 2775);
  Node 2779 14 (Ite 2778 72 2765);
  Node 2780 4 (Extract 10 2779);
  Node 2781 1 (Eq 37 2780);
  Node 2782 1 (Extract 2 2772);
  Node 2783 1 (Or 2777 2782);
  Node 2784 1 (Not 2781);
  Node 2785 1 (And 2782 2784);
  Node 2786 1 (Or 2777 2785);
  Node 2787 1 (And 2781 2783);
  Node 2788 10 (Extract 0 2779);
  Node 2789 14 (Concat 2788 37);
  Node 2790 14 (Ite 2787 2789 2779);
  Node 2791 2 (Extract 12 2790);
  Node 2792 1 (Eq 86 2791);
  Node 2793 1 (Extract 1 2772);
  Node 2794 1 (Or 2786 2793);
  Node 2795 1 (Not 2792);
  Node 2796 1 (And 2793 2795);
  Node 2797 1 (Or 2786 2796);
  Node 2798 1 (And 2792 2794);
  Node 2799 12 (Extract 0 2790);
  Node 2800 14 (Concat 2799 86);
  Node 2801 14 (Ite 2798 2800 2790);
  Node 2802 1 (Extract 13 2801);
  Node 2803 1 (Eq 49 2802);
  Node 2804 1 (Extract 0 2772);
  Node 2805 1 (Or 2797 2804);
  Node 2809 1 (And 2803 2805);
  Node 2810 13 (Extract 0 2801);
  Node 2811 14 (Concat 2810 49);
  Node 2812 14 (Ite 2809 2811 2801);
  Node 2813 2 (Concat 2778 2787);
  Node 2814 3 (Concat 2813 2798);
  Node 2815 4 (Concat 2814 2809);
  Node 2816 5 (Zext 2815);
  Node 2817 5 (Sub 2767 2816);
  Node 2818 11 (Extract 3 2812);
  Node 2819 1 (Extract 2 2812);
  Node 2820 2 (Extract 0 2812);
  Node 2821 1 (Eq 86 2820);
  Node 2822 1 (Not 2821);
  Node 2823 1 (Extract 3 2812);
  Node 2824 1 (Or 2822 2823);
  Node 2825 1 (And 2819 2824);
  Node 2826 12 (Zext 2818);
  Node 2827 12 (Zext 2825);
  Node 2828 12 (Add 2826 2827);
  Node 2829 1 (Extract 11 2828);
  Node 2830 11 (Extract 0 2828);
  Node 2831 11 (Ite 2829 125 2830);
  Node 2832 1 (Eq 128 2831);
  Node 2833 6 (Zext 2817);
  Node 2834 6 (Zext 2829);
  Node 2835 6 (Add 2833 2834);
  Node 2836 1 (Not 2832);
  Node 2837 1 (Ult 134 2835);
  Node 2838 1 (And 2836 2837);
  Node 2839 6 (Ite 2832 71 2835);
  Node 2840 5 (Extract 0 2839);
  Node 2841 1 (Not 2762);
  Node 2842 1 (And 2838 2841);
  Node 2843 1 (Extract 10 2831);
  Node 2844 5 (Zext 2843);
  Node 2845 5 (Add 2840 2844);
  Node 2846 10 (Extract 0 2831);
  Node 2847 15 (Concat 2845 2846);
  Node 2848 16 (Concat 2753 2847);
  Node 2849 16 (Concat 2753 148);
  Node 2850 16 (Ite 2842 2849 2848);
  Node 2851 16 (Ite 2762 141 2850);
  Node 2852 4 (Extract 3 27);
  Node 2853 1 (Extract 7 27);
  Node 2854 1 (Eq 37 2852);
  Node 2855 1 (Not 2854);
  Node 2856 3 (Extract 0 27);
  Node 2857 4 (Concat 2855 2856);
  Node 2859 1 (Eq 44 2856);
  Node 2861 1 (Eq 47 2852);
  Node 2862 1 (And 2859 2861);
  Node 2863 4 (Zext 2854);
  Node 2864 4 (Or 2852 2863);
  Node 2865 14 (Concat 2857 53);
  Node 2866 5 (Zext 2864);
  Node 2867 5 (Add 56 2866);
  Node 2868 1 (Extract 4 2867);
  Node 2869 1 (Eq 49 2868);
  Node 2870 1 (Not 2869);
  Node 2871 4 (Extract 0 2867);
  Node 2872 4 (Ite 2870 47 2871);
  Node 2873 8 (Extract 6 2865);
  Node 2874 1 (Eq 65 2873);
  Node 2875 1 (Extract 3 2872);
  Node 2876 1 (Not 2874);
  Node 2877 1 (And 2875 2876);
  Node 2878 1 (And 2874 2875);
  Node 2879 14 (Ite 2878 72 2865);
  Node 2880 4 (Extract 10 2879);
  Node 2881 1 (Eq 37 2880);
  Node 2882 1 (Extract 2 2872);
  Node 2883 1 (Or 2877 2882);
  Node 2884 1 (Not 2881);
  Node 2885 1 (And 2882 2884);
  Node 2886 1 (Or 2877 2885);
  Node 2887 1 (And 2881 2883);
  Node 2888 10 (Extract 0 2879);
  Node 2889 14 (Concat 2888 37);
  Node 2890 14 (Ite 2887 2889 2879);
  Node 2891 2 (Extract 12 2890);
  Node 2892 1 (Eq 86 2891);
  Node 2893 1 (Extract 1 2872);
  Node 2894 1 (Or 2886 2893);
  Node 2895 1 (Not 2892);
  Node 2896 1 (And 2893 2895);
  Node 2897 1 (Or 2886 2896);
  Node 2898 1 (And 2892 2894);
  Node 2899 12 (Extract 0 2890);
  Node 2900 14 (Concat 2899 86);
  Node 2901 14 (Ite 2898 2900 2890);
  Node 2902 1 (Extract 13 2901);
  Node 2903 1 (Eq 49 2902);
  Node 2904 1 (Extract 0 2872);
  Node 2905 1 (Or 2897 2904);
  Node 2909 1 (And 2903 2905);
  Node 2910 13 (Extract 0 2901);
  Node 2911 14 (Concat 2910 49);
  Node 2912 14 (Ite 2909 2911 2901);
  Node 2913 2 (Concat 2878 2887);
  Node 2914 3 (Concat 2913 2898);
  Node 2915 4 (Concat 2914 2909);
  Node 2916 5 (Zext 2915);
  Node 2917 5 (Sub 2867 2916);
  Node 2918 11 (Extract 3 2912);
  Node 2919 1 (Extract 2 2912);
  Node 2920 2 (Extract 0 2912);
  Node 2921 1 (Eq 86 2920);
  Node 2922 1 (Not 2921);
  Node 2923 1 (Extract 3 2912);
  Node 2924 1 (Or 2922 2923);
  Node 2925 1 (And 2919 2924);
  Node 2926 12 (Zext 2918);
  Node 2927 12 (Zext 2925);
  Node 2928 12 (Add 2926 2927);
  Node 2929 1 (Extract 11 2928);
  Node 2930 11 (Extract 0 2928);
  Node 2931 11 (Ite 2929 125 2930);
  Node 2932 1 (Eq 128 2931);
  Node 2933 6 (Zext 2917);
  Node 2934 6 (Zext 2929);
  Node 2935 6 (Add 2933 2934);
  Node 2936 1 (Not 2932);
  Node 2937 1 (Ult 134 2935);
  Node 2938 1 (And 2936 2937);
  Node 2939 6 (Ite 2932 71 2935);
  Node 2940 5 (Extract 0 2939);
  Node 2941 1 (Not 2862);
  Node 2942 1 (And 2938 2941);
  Node 2943 1 (Extract 10 2931);
  Node 2944 5 (Zext 2943);
  Node 2945 5 (Add 2940 2944);
  Node 2946 10 (Extract 0 2931);
  Node 2947 15 (Concat 2945 2946);
  Node 2948 16 (Concat 2853 2947);
  Node 2949 16 (Concat 2853 148);
  Node 2950 16 (Ite 2942 2949 2948);
  Node 2951 16 (Ite 2862 141 2950);
  Node 2952 4 (Extract 3 29);
  Node 2953 1 (Extract 7 29);
  Node 2954 1 (Eq 37 2952);
  Node 2955 1 (Not 2954);
  Node 2956 3 (Extract 0 29);
  Node 2957 4 (Concat 2955 2956);
  Node 2959 1 (Eq 44 2956);
  Node 2961 1 (Eq 47 2952);
  Node 2962 1 (And 2959 2961);
  Node 2963 4 (Zext 2954);
  Node 2964 4 (Or 2952 2963);
  Node 2965 14 (Concat 2957 53);
  Node 2966 5 (Zext 2964);
  Node 2967 5 (Add 56 2966);
  Node 2968 1 (Extract 4 2967);
  Node 2969 1 (Eq 49 2968);
  Node 2970 1 (Not 2969);
  Node 2971 4 (Extract 0 2967);
  Node 2972 4 (Ite 2970 47 2971);
  Node 2973 8 (Extract 6 2965);
  Node 2974 1 (Eq 65 2973);
  Node 2975 1 (Extract 3 2972);
  Node 2976 1 (Not 2974);
  Node 2977 1 (And 2975 2976);
  Node 2978 1 (And 2974 2975);
  Node 2979 14 (Ite 2978 72 2965);
  Node 2980 4 (Extract 10 2979);
  Node 2981 1 (Eq 37 2980);
  Node 2982 1 (Extract 2 2972);
  Node 2983 1 (Or 2977 2982);
  Node 2984 1 (Not 2981);
  Node 2985 1 (And 2982 2984);
  Node 2986 1 (Or 2977 2985);
  Node 2987 1 (And 2981 2983);
  Node 2988 10 (Extract 0 2979);
  Node 2989 14 (Concat 2988 37);
  Node 2990 14 (Ite 2987 2989 2979);
  Node 2991 2 (Extract 12 2990);
  Node 2992 1 (Eq 86 2991);
  Node 2993 1 (Extract 1 2972);
  Node 2994 1 (Or 2986 2993);
  Node 2995 1 (Not 2992);
  Node 2996 1 (And 2993 2995);
  Node 2997 1 (Or 2986 2996);
  Node 2998 1 (And 2992 2994);
  Node 2999 12 (Extract 0 2990);
  Node 3000 14 (Concat 2999 86);
  Node 3001 14 (Ite 2998 3000 2990);
  Node 3002 1 (Extract 13 3001);
  Node 3003 1 (Eq 49 3002);
  Node 3004 1 (Extract 0 2972);
  Node 3005 1 (Or 2997 3004);
  Node 3009 1 (And 3003 3005);
  Node 3010 13 (Extract 0 3001);
  Node 3011 14 (Concat 3010 49);
  Node 3012 14 (Ite 3009 3011 3001);
  Node 3013 2 (Concat 2978 2987);
  Node 3014 3 (Concat 3013 2998);
  Node 3015 4 (Concat 3014 3009);
  Node 3016 5 (Zext 3015);
  Node 3017 5 (Sub 2967 3016);
  Node 3018 11 (Extract 3 3012);
  Node 3019 1 (Extract 2 3012);
  Node 3020 2 (Extract 0 3012);
  Node 3021 1 (Eq 86 3020);
  Node 3022 1 (Not 3021);
  Node 3023 1 (Extract 3 3012);
  Node 3024 1 (Or 3022 3023);
  Node 3025 1 (And 3019 3024);
  Node 3026 12 (Zext 3018);
  Node 3027 12 (Zext 3025);
  Node 3028 12 (Add 3026 3027);
  Node 3029 1 (Extract 11 3028);
  Node 3030 11 (Extract 0 3028);
  Node 3031 11 (Ite 3029 125 3030);
  Node 3032 1 (Eq 128 3031);
  Node 3033 6 (Zext 3017);
  Node 3034 6 (Zext 3029);
  Node 3035 6 (Add 3033 3034);
  Node 3036 1 (Not 3032);
  Node 3037 1 (Ult 134 3035);
  Node 3038 1 (And 3036 3037);
  Node 3039 6 (Ite 3032 71 3035);
  Node 3040 5 (Extract 0 3039);
  Node 3041 1 (Not 2962);
  Node 3042 1 (And 3038 3041);
  Node 3043 1 (Extract 10 3031);
  Node 3044 5 (Zext 3043);
  Node 3045 5 (Add 3040 3044);
  Node 3046 10 (Extract 0 3031);
  Node 3047 15 (Concat 3045 3046);
  Node 3048 16 (Concat 2953 3047);
  Node 3049 16 (Concat 2953 148);
  Node 3050 16 (Ite 3042 3049 3048);
  Node 3051 16 (Ite 2962 141 3050);
  Node 3052 4 (Extract 3 31);
  Node 3053 1 (Extract 7 31);
  Node 3054 1 (Eq 37 3052);
  Node 3055 1 (Not 3054);
  Node 3056 3 (Extract 0 31);
  Node 3057 4 (Concat 3055 3056);
  Node 3059 1 (Eq 44 3056);
  Node 3061 1 (Eq 47 3052);
  Node 3062 1 (And 3059 3061);
  Node 3063 4 (Zext 3054);
  Node 3064 4 (Or 3052 3063);
  Node 3065 14 (Concat 3057 53);
  Node 3066 5 (Zext 3064);
  Node 3067 5 (Add 56 3066);
  Node 3068 1 (Extract 4 3067);
  Node 3069 1 (Eq 49 3068);
  Node 3070 1 (Not 3069);
  Node 3071 4 (Extract 0 3067);
  Node 3072 4 (Ite 3070 47 3071);
  Node 3073 8 (Extract 6 3065);
  Node 3074 1 (Eq 65 3073);
  Node 3075 1 (Extract 3 3072);
  Node 3076 1 (Not 3074);
  Node 3077 1 (And 3075 3076);
  Node 3078 1 (And 3074 3075);
  Node 3079 14 (Ite 3078 72 3065);
  Node 3080 4 (Extract 10 3079);
  Node 3081 1 (Eq 37 3080);
  Node 3082 1 (Extract 2 3072);
  Node 3083 1 (Or 3077 3082);
  Node 3084 1 (Not 3081);
  Node 3085 1 (And 3082 3084);
  Node 3086 1 (Or 3077 3085);
  Node 3087 1 (And 3081 3083);
  Node 3088 10 (Extract 0 3079);
  Node 3089 14 (Concat 3088 37);
  Node 3090 14 (Ite 3087 3089 3079);
  Node 3091 2 (Extract 12 3090);
  Node 3092 1 (Eq 86 3091);
  Node 3093 1 (Extract 1 3072);
  Node 3094 1 (Or 3086 3093);
  Node 3095 1 (Not 3092);
  Node 3096 1 (And 3093 3095);
  Node 3097 1 (Or 3086 3096);
  Node 3098 1 (And 3092 3094);
  Node 3099 12 (Extract 0 3090);
  Node 3100 14 (Concat 3099 86);
  Node 3101 14 (Ite 3098 3100 3090);
  Node 3102 1 (Extract 13 3101);
  Node 3103 1 (Eq 49 3102);
  Node 3104 1 (Extract 0 3072);
  Node 3105 1 (Or 3097 3104);
  Node 3109 1 (And 3103 3105);
  Node 3110 13 (Extract 0 3101);
  Node 3111 14 (Concat 3110 49);
  Node 3112 14 (Ite 3109 3111 3101);
  Node 3113 2 (Concat 3078 3087);
  Node 3114 3 (Concat 3113 3098);
  Node 3115 4 (Concat 3114 3109);
  Node 3116 5 (Zext 3115);
  Node 3117 5 (Sub 3067 3116);
  Node 3118 11 (Extract 3 3112);
  Node 3119 1 (Extract 2 3112);
  Node 3120 2 (Extract 0 3112);
  Node 3121 1 (Eq 86 3120);
  Node 3122 1 (Not 3121);
  Node 3123 1 (Extract 3 3112);
  Node 3124 1 (Or 3122 3123);
  Node 3125 1 (And 3119 3124);
  Node 3126 12 (Zext 3118);
  Node 3127 12 (Zext 3125);
  Node 3128 12 (Add 3126 3127);
  Node 3129 1 (Extract 11 3128);
  Node 3130 11 (Extract 0 3128);
  Node 3131 11 (Ite 3129 125 3130);
  Node 3132 1 (Eq 128 3131);
  Node 3133 6 (Zext 3117);
  Node 3134 6 (Zext 3129);
  Node 3135 6 (Add 3133 3134);
  Node 3136 1 (Not 3132);
  Node 3137 1 (Ult 134 3135);
  Node 3138 1 (And 3136 3137);
  Node 3139 6 (Ite 3132 71 3135);
  Node 3140 5 (Extract 0 3139);
  Node 3141 1 (Not 3062);
  Node 3142 1 (And 3138 3141);
  Node 3143 1 (Extract 10 3131);
  Node 3144 5 (Zext 3143);
  Node 3145 5 (Add 3140 3144);
  Node 3146 10 (Extract 0 3131);
  Node 3147 15 (Concat 3145 3146);
  Node 3148 16 (Concat 3053 3147);
  Node 3149 16 (Concat 3053 148);
  Node 3150 16 (Ite 3142 3149 3148);
  Node 3151 16 (Ite 3062 141 3150);
  Node 3152 4 (Extract 3 33);
  Node 3153 1 (Extract 7 33);
  Node 3154 1 (Eq 37 3152);
  Node 3155 1 (Not 3154);
  Node 3156 3 (Extract 0 33);
  Node 3157 4 (Concat 3155 3156);
  Node 3159 1 (Eq 44 3156);
  Node 3161 1 (Eq 47 3152);
  Node 3162 1 (And 3159 3161);
  Node 3163 4 (Zext 3154);
  Node 3164 4 (Or 3152 3163);
  Node 3165 14 (Concat 3157 53);
  Node 3166 5 (Zext 3164);
  Node 3167 5 (Add 56 3166);
  Node 3168 1 (Extract 4 3167);
  Node 3169 1 (Eq 49 3168);
  Node 3170 1 (Not 3169);
  Node 3171 4 (Extract 0 3167);
  Node 3172 4 (Ite 3170 47 3171);
  Node 3173 8 (Extract 6 3165);
  Node 3174 1 (Eq 65 3173);
  Node 3175 1 (Extract 3 3172);
  Node 3176 1 (Not 3174);
  Node 3177 1 (And 3175 3176);
  Node 3178 1 (And 3174 3175);
  Node 3179 14 (Ite 3178 72 3165);
  Node 3180 4 (Extract 10 3179);
  Node 3181 1 (Eq 37 3180);
  Node 3182 1 (Extract 2 3172);
  Node 3183 1 (Or 3177 3182);
  Node 3184 1 (Not 3181);
  Node 3185 1 (And 3182 3184);
  Node 3186 1 (Or 3177 3185);
  Node 3187 1 (And 3181 3183);
  Node 3188 10 (Extract 0 3179);
  Node 3189 14 (Concat 3188 37);
  Node 3190 14 (Ite 3187 3189 3179);
  Node 3191 2 (Extract 12 3190);
  Node 3192 1 (Eq 86 3191);
  Node 3193 1 (Extract 1 3172);
  Node 3194 1 (Or 3186 3193);
  Node 3195 1 (Not 3192);
  Node 3196 1 (And 3193 3195);
  Node 3197 1 (Or 3186 3196);
  Node 3198 1 (And 3192 3194);
  Node 3199 12 (Extract 0 3190);
  Node 3200 14 (Concat 3199 86);
  Node 3201 14 (Ite 3198 3200 3190);
  Node 3202 1 (Extract 13 3201);
  Node 3203 1 (Eq 49 3202);
  Node 3204 1 (Extract 0 3172);
  Node 3205 1 (Or 3197 3204);
  Node 3209 1 (And 3203 3205);
  Node 3210 13 (Extract 0 3201);
  Node 3211 14 (Concat 3210 49);
  Node 3212 14 (Ite 3209 3211 3201);
  Node 3213 2 (Concat 3178 3187);
  Node 3214 3 (Concat 3213 3198);
  Node 3215 4 (Concat 3214 3209);
  Node 3216 5 (Zext 3215);
  Node 3217 5 (Sub 3167 3216);
  Node 3218 11 (Extract 3 3212);
  Node 3219 1 (Extract 2 3212);
  Node 3220 2 (Extract 0 3212);
  Node 3221 1 (Eq 86 3220);
  Node 3222 1 (Not 3221);
  Node 3223 1 (Extract 3 3212);
  Node 3224 1 (Or 3222 3223);
  Node 3225 1 (And 3219 3224);
  Node 3226 12 (Zext 3218);
  Node 3227 12 (Zext 3225);
  Node 3228 12 (Add 3226 3227);
  Node 3229 1 (Extract 11 3228);
  Node 3230 11 (Extract 0 3228);
  Node 3231 11 (Ite 3229 125 3230);
  Node 3232 1 (Eq 128 3231);
  Node 3233 6 (Zext 3217);
  Node 3234 6 (Zext 3229);
  Node 3235 6 (Add 3233 3234);
  Node 3236 1 (Not 3232);
  Node 3237 1 (Ult 134 3235);
  Node 3238 1 (And 3236 3237);
  Node 3239 6 (Ite 3232 71 3235);
  Node 3240 5 (Extract 0 3239);
  Node 3241 1 (Not 3162);
  Node 3242 1 (And 3238 3241);
  Node 3243 1 (Extract 10 3231);
  Node 3244 5 (Zext 3243);
  Node 3245 5 (Add 3240 3244);
  Node 3246 10 (Extract 0 3231);
  Node 3247 15 (Concat 3245 3246);
  Node 3248 16 (Concat 3153 3247);
  Node 3249 16 (Concat 3153 148);
  Node 3250 16 (Ite 3242 3249 3248);
  Node 3251 16 (Ite 3162 141 3250);
  Node 3252 16 (Const 0);
  Node 3253 1 (Const 1);
  Node 3255 5 (Const 31);
  Node 3256 5 (Const 1);
  Node 3257 16 (Const 32767);
  Node 3258 5 (Extract 10 151);
  Node 3259 1 (Extract 15 151);
  Node 3260 1 (Eq 58 3258);
  Node 3261 1 (Not 3260);
  Node 3262 10 (Extract 0 151);
  Node 3263 11 (Concat 3261 3262);
  Node 3264 1 (Eq 53 3262);
  Node 3266 1 (And 3260 3264);
  Node 3267 1 (Eq 3255 3258);
  Node 3268 1 (And 3264 3267);
  Node 3269 1 (Not 3264);
  Node 3270 1 (And 3267 3269);
  Node 3271 5 (Zext 3260);
  Node 3272 5 (Or 3258 3271);
  Node 3273 5 (Extract 10 1751);
  Node 3274 1 (Extract 15 1751);
  Node 3275 1 (Eq 58 3273);
  Node 3276 1 (Not 3275);
  Node 3277 10 (Extract 0 1751);
  Node 3278 11 (Concat 3276 3277);
  Node 3279 1 (Eq 53 3277);
  Node 3281 1 (And 3275 3279);
  Node 3282 1 (Eq 3255 3273);
  Node 3283 1 (And 3279 3282);
  Node 3284 1 (Not 3279);
  Node 3285 1 (And 3282 3284);
  Node 3286 5 (Zext 3275);
  Node 3287 5 (Or 3273 3286);
  Node 3288 1 (Xor 3259 3274);
  Node 3289 22 (Mul 3263 3278);
  Node 3290 6 (Zext 3272);
  Node 3291 6 (Zext 3287);
  Node 3292 6 (Add 3290 3291);
  Node 3293 1 (Or 3266 3281);
  Node 3294 1 (And 3268 3281);
  Node 3295 1 (And 3266 3283);
  Node 3296 1 (Or 3294 3295);
  Node 3297 1 (Or 3270 3285);
  Node 3298 1 (Or 3296 3297);
  Node 3299 1 (Or 3268 3283);
  Node 3300 1 (Not 3298);
  Node 3301 1 (And 3299 3300);
  Node 3302 5 (Extract 10 251);
  Node 3303 1 (Extract 15 251);
  Node 3304 1 (Eq 58 3302);
  Node 3305 1 (Not 3304);
  Node 3306 10 (Extract 0 251);
  Node 3307 11 (Concat 3305 3306);
  Node 3308 1 (Eq 53 3306);
  Node 3310 1 (And 3304 3308);
  Node 3311 1 (Eq 3255 3302);
  Node 3312 1 (And 3308 3311);
  Node 3313 1 (Not 3308);
  Node 3314 1 (And 3311 3313);
  Node 3315 5 (Zext 3304);
  Node 3316 5 (Or 3302 3315);
  Node 3317 5 (Extract 10 1851);
  Node 3318 1 (Extract 15 1851);
  Node 3319 1 (Eq 58 3317);
  Node 3320 1 (Not 3319);
  Node 3321 10 (Extract 0 1851);
  Node 3322 11 (Concat 3320 3321);
  Node 3323 1 (Eq 53 3321);
  Node 3325 1 (And 3319 3323);
  Node 3326 1 (Eq 3255 3317);
  Node 3327 1 (And 3323 3326);
  Node 3328 1 (Not 3323);
  Node 3329 1 (And 3326 3328);
  Node 3330 5 (Zext 3319);
  Node 3331 5 (Or 3317 3330);
  Node 3332 1 (Xor 3303 3318);
  Node 3333 22 (Mul 3307 3322);
  Node 3334 6 (Zext 3316);
  Node 3335 6 (Zext 3331);
  Node 3336 6 (Add 3334 3335);
  Node 3337 1 (Or 3310 3325);
  Node 3338 1 (And 3312 3325);
  Node 3339 1 (And 3310 3327);
  Node 3340 1 (Or 3338 3339);
  Node 3341 1 (Or 3314 3329);
  Node 3342 1 (Or 3340 3341);
  Node 3343 1 (Or 3312 3327);
  Node 3344 1 (Not 3342);
  Node 3345 1 (And 3343 3344);
  Node 3346 5 (Extract 10 551);
  Node 3347 1 (Extract 15 551);
  Node 3348 1 (Eq 58 3346);
  Node 3349 1 (Not 3348);
  Node 3350 10 (Extract 0 551);
  Node 3351 11 (Concat 3349 3350);
  Node 3352 1 (Eq 53 3350);
  Node 3354 1 (And 3348 3352);
  Node 3355 1 (Eq 3255 3346);
  Node 3356 1 (And 3352 3355);
  Node 3357 1 (Not 3352);
  Node 3358 1 (And 3355 3357);
  Node 3359 5 (Zext 3348);
  Node 3360 5 (Or 3346 3359);
  Node 3361 5 (Extract 10 2151);
  Node 3362 1 (Extract 15 2151);
  Node 3363 1 (Eq 58 3361);
  Node 3364 1 (Not 3363);
  Node 3365 10 (Extract 0 2151);
  Node 3366 11 (Concat 3364 3365);
  Node 3367 1 (Eq 53 3365);
  Node 3369 1 (And 3363 3367);
  Node 3370 1 (Eq 3255 3361);
  Node 3371 1 (And 3367 3370);
  Node 3372 1 (Not 3367);
  Node 3373 1 (And 3370 3372);
  Node 3374 5 (Zext 3363);
  Node 3375 5 (Or 3361 3374);
  Node 3376 1 (Xor 3347 3362);
  Node 3377 22 (Mul 3351 3366);
  Node 3378 6 (Zext 3360);
  Node 3379 6 (Zext 3375);
  Node 3380 6 (Add 3378 3379);
  Node 3381 1 (Or 3354 3369);
  Node 3382 1 (And 3356 3369);
  Node 3383 1 (And 3354 3371);
  Node 3384 1 (Or 3382 3383);
  Node 3385 1 (Or 3358 3373);
  Node 3386 1 (Or 3384 3385);
  Node 3387 1 (Or 3356 3371);
  Node 3388 1 (Not 3386);
  Node 3389 1 (And 3387 3388);
  Node 3390 5 (Extract 10 651);
  Node 3391 1 (Extract 15 651);
  Node 3392 1 (Eq 58 3390);
  Node 3393 1 (Not 3392);
  Node 3394 10 (Extract 0 651);
  Node 3395 11 (Concat 3393 3394);
  Node 3396 1 (Eq 53 3394);
  Node 3398 1 (And 3392 3396);
  Node 3399 1 (Eq 3255 3390);
  Node 3400 1 (And 3396 3399);
  Node 3401 1 (Not 3396);
  Node 3402 1 (And 3399 3401);
  Node 3403 5 (Zext 3392);
  Node 3404 5 (Or 3390 3403);
  Node 3405 5 (Extract 10 2251);
  Node 3406 1 (Extract 15 2251);
  Node 3407 1 (Eq 58 3405);
  Node 3408 1 (Not 3407);
  Node 3409 10 (Extract 0 2251);
  Node 3410 11 (Concat 3408 3409);
  Node 3411 1 (Eq 53 3409);
  Node 3413 1 (And 3407 3411);
  Node 3414 1 (Eq 3255 3405);
  Node 3415 1 (And 3411 3414);
  Node 3416 1 (Not 3411);
  Node 3417 1 (And 3414 3416);
  Node 3418 5 (Zext 3407);
  Node 3419 5 (Or 3405 3418);
  Node 3420 1 (Xor 3391 3406);
  Node 3421 22 (Mul 3395 3410);
  Node 3422 6 (Zext 3404);
  Node 3423 6 (Zext 3419);
  Node 3424 6 (Add 3422 3423);
  Node 3425 1 (Or 3398 3413);
  Node 3426 1 (And 3400 3413);
  Node 3427 1 (And 3398 3415);
  Node 3428 1 (Or 3426 3427);
  Node 3429 1 (Or 3402 3417);
  Node 3430 1 (Or 3428 3429);
  Node 3431 1 (Or 3400 3415);
  Node 3432 1 (Not 3430);
  Node 3433 1 (And 3431 3432);
  Node 3434 5 (Extract 10 951);
  Node 3435 1 (Extract 15 951);
  Node 3436 1 (Eq 58 3434);
  Node 3437 1 (Not 3436);
  Node 3438 10 (Extract 0 951);
  Node 3439 11 (Concat 3437 3438);
  Node 3440 1 (Eq 53 3438);
  Node 3442 1 (And 3436 3440);
  Node 3443 1 (Eq 3255 3434);
  Node 3444 1 (And 3440 3443);
  Node 3445 1 (Not 3440);
  Node 3446 1 (And 3443 3445);
  Node 3447 5 (Zext 3436);
  Node 3448 5 (Or 3434 3447);
  Node 3449 5 (Extract 10 2551);
  Node 3450 1 (Extract 15 2551);
  Node 3451 1 (Eq 58 3449);
  Node 3452 1 (Not 3451);
  Node 3453 10 (Extract 0 2551);
  Node 3454 11 (Concat 3452 3453);
  Node 3455 1 (Eq 53 3453);
  Node 3457 1 (And 3451 3455);
  Node 3458 1 (Eq 3255 3449);
  Node 3459 1 (And 3455 3458);
  Node 3460 1 (Not 3455);
  Node 3461 1 (And 3458 3460);
  Node 3462 5 (Zext 3451);
  Node 3463 5 (Or 3449 3462);
  Node 3464 1 (Xor 3435 3450);
  Node 3465 22 (Mul 3439 3454);
  Node 3466 6 (Zext 3448);
  Node 3467 6 (Zext 3463);
  Node 3468 6 (Add 3466 3467);
  Node 3469 1 (Or 3442 3457);
  Node 3470 1 (And 3444 3457);
  Node 3471 1 (And 3442 3459);
  Node 3472 1 (Or 3470 3471);
  Node 3473 1 (Or 3446 3461);
  Node 3474 1 (Or 3472 3473);
  Node 3475 1 (Or 3444 3459);
  Node 3476 1 (Not 3474);
  Node 3477 1 (And 3475 3476);
  Node 3478 5 (Extract 10 1051);
  Node 3479 1 (Extract 15 1051);
  Node 3480 1 (Eq 58 3478);
  Node 3481 1 (Not 3480);
  Node 3482 10 (Extract 0 1051);
  Node 3483 11 (Concat 3481 3482);
  Node 3484 1 (Eq 53 3482);
  Node 3486 1 (And 3480 3484);
  Node 3487 1 (Eq 3255 3478);
  Node 3488 1 (And 3484 3487);
  Node 3489 1 (Not 3484);
  Node 3490 1 (And 3487 3489);
  Node 3491 5 (Zext 3480);
  Node 3492 5 (Or 3478 3491);
  Node 3493 5 (Extract 10 2651);
  Node 3494 1 (Extract 15 2651);
  Node 3495 1 (Eq 58 3493);
  Node 3496 1 (Not 3495);
  Node 3497 10 (Extract 0 2651);
  Node 3498 11 (Concat 3496 3497);
  Node 3499 1 (Eq 53 3497);
  Node 3501 1 (And 3495 3499);
  Node 3502 1 (Eq 3255 3493);
  Node 3503 1 (And 3499 3502);
  Node 3504 1 (Not 3499);
  Node 3505 1 (And 3502 3504);
  Node 3506 5 (Zext 3495);
  Node 3507 5 (Or 3493 3506);
  Node 3508 1 (Xor 3479 3494);
  Node 3509 22 (Mul 3483 3498);
  Node 3510 6 (Zext 3492);
  Node 3511 6 (Zext 3507);
  Node 3512 6 (Add 3510 3511);
  Node 3513 1 (Or 3486 3501);
  Node 3514 1 (And 3488 3501);
  Node 3515 1 (And 3486 3503);
  Node 3516 1 (Or 3514 3515);
  Node 3517 1 (Or 3490 3505);
  Node 3518 1 (Or 3516 3517);
  Node 3519 1 (Or 3488 3503);
  Node 3520 1 (Not 3518);
  Node 3521 1 (And 3519 3520);
  Node 3522 5 (Extract 10 1351);
  Node 3523 1 (Extract 15 1351);
  Node 3524 1 (Eq 58 3522);
  Node 3525 1 (Not 3524);
  Node 3526 10 (Extract 0 1351);
  Node 3527 11 (Concat 3525 3526);
  Node 3528 1 (Eq 53 3526);
  Node 3530 1 (And 3524 3528);
  Node 3531 1 (Eq 3255 3522);
  Node 3532 1 (And 3528 3531);
  Node 3533 1 (Not 3528);
  Node 3534 1 (And 3531 3533);
  Node 3535 5 (Zext 3524);
  Node 3536 5 (Or 3522 3535);
  Node 3537 5 (Extract 10 2951);
  Node 3538 1 (Extract 15 2951);
  Node 3539 1 (Eq 58 3537);
  Node 3540 1 (Not 3539);
  Node 3541 10 (Extract 0 2951);
  Node 3542 11 (Concat 3540 3541);
  Node 3543 1 (Eq 53 3541);
  Node 3545 1 (And 3539 3543);
  Node 3546 1 (Eq 3255 3537);
  Node 3547 1 (And 3543 3546);
  Node 3548 1 (Not 3543);
  Node 3549 1 (And 3546 3548);
  Node 3550 5 (Zext 3539);
  Node 3551 5 (Or 3537 3550);
  Node 3552 1 (Xor 3523 3538);
  Node 3553 22 (Mul 3527 3542);
  Node 3554 6 (Zext 3536);
  Node 3555 6 (Zext 3551);
  Node 3556 6 (Add 3554 3555);
  Node 3557 1 (Or 3530 3545);
  Node 3558 1 (And 3532 3545);
  Node 3559 1 (And 3530 3547);
  Node 3560 1 (Or 3558 3559);
  Node 3561 1 (Or 3534 3549);
  Node 3562 1 (Or 3560 3561);
  Node 3563 1 (Or 3532 3547);
  Node 3564 1 (Not 3562);
  Node 3565 1 (And 3563 3564);
  Node 3566 5 (Extract 10 1451);
  Node 3567 1 (Extract 15 1451);
  Node 3568 1 (Eq 58 3566);
  Node 3569 1 (Not 3568);
  Node 3570 10 (Extract 0 1451);
  Node 3571 11 (Concat 3569 3570);
  Node 3572 1 (Eq 53 3570);
  Node 3574 1 (And 3568 3572);
  Node 3575 1 (Eq 3255 3566);
  Node 3576 1 (And 3572 3575);
  Node 3577 1 (Not 3572);
  Node 3578 1 (And 3575 3577);
  Node 3579 5 (Zext 3568);
  Node 3580 5 (Or 3566 3579);
  Node 3581 5 (Extract 10 3051);
  Node 3582 1 (Extract 15 3051);
  Node 3583 1 (Eq 58 3581);
  Node 3584 1 (Not 3583);
  Node 3585 10 (Extract 0 3051);
  Node 3586 11 (Concat 3584 3585);
  Node 3587 1 (Eq 53 3585);
  Node 3589 1 (And 3583 3587);
  Node 3590 1 (Eq 3255 3581);
  Node 3591 1 (And 3587 3590);
  Node 3592 1 (Not 3587);
  Node 3593 1 (And 3590 3592);
  Node 3594 5 (Zext 3583);
  Node 3595 5 (Or 3581 3594);
  Node 3596 1 (Xor 3567 3582);
  Node 3597 22 (Mul 3571 3586);
  Node 3598 6 (Zext 3580);
  Node 3599 6 (Zext 3595);
  Node 3600 6 (Add 3598 3599);
  Node 3601 1 (Or 3574 3589);
  Node 3602 1 (And 3576 3589);
  Node 3603 1 (And 3574 3591);
  Node 3604 1 (Or 3602 3603);
  Node 3605 1 (Or 3578 3593);
  Node 3606 1 (Or 3604 3605);
  Node 3607 1 (Or 3576 3591);
  Node 3608 1 (Not 3606);
  Node 3609 1 (And 3607 3608);
  Node 3610 6 (Const 9);
  Node 3611 6 (Ite 3293 3610 3292);
  Node 3612 6 (Ite 3337 3610 3336);
  Node 3613 6 (Ite 3381 3610 3380);
  Node 3614 6 (Ite 3425 3610 3424);
  Node 3615 6 (Ite 3469 3610 3468);
  Node 3616 6 (Ite 3513 3610 3512);
  Node 3617 6 (Ite 3557 3610 3556);
  Node 3618 6 (Ite 3601 3610 3600);
  Node 3619 6 (Const 1);
  Node 3620 6 (Const 6);
  Node 3622 1 (Ult 3611 3612);
  Node 3623 6 (Ite 3622 3612 3611);
  Node 3624 1 (Ult 3613 3614);
  Node 3625 6 (Ite 3624 3614 3613);
  Node 3626 1 (Ult 3615 3616);
  Node 3627 6 (Ite 3626 3616 3615);
  Node 3628 1 (Ult 3617 3618);
  Node 3629 6 (Ite 3628 3618 3617);
  Node 3630 1 (Ult 3623 3625);
  Node 3631 6 (Ite 3630 3625 3623);
  Node 3632 1 (Ult 3627 3629);
  Node 3633 6 (Ite 3632 3629 3627);
  Node 3634 1 (Ult 3631 3633);
  Node 3635 6 (Ite 3634 3633 3631);
  Node 3636 1 (Ult 3635 3610);
  Node 3637 6 (Ite 3636 3610 3635);
  Node 3638 6 (Sub 3637 3610);
  Node 3639 6 (Add 3610 3638);
  Node 3640 6 (Sub 3639 3611);
  Node 3641 27 (Concat 3289 58);
  Node 3642 27 (Lshr 3641 3640);
  Node 3643 6 (Sub 3639 3612);
  Node 3644 27 (Concat 3333 58);
  Node 3645 27 (Lshr 3644 3643);
  Node 3646 6 (Sub 3639 3613);
  Node 3647 27 (Concat 3377 58);
  Node 3648 27 (Lshr 3647 3646);
  Node 3649 6 (Sub 3639 3614);
  Node 3650 27 (Concat 3421 58);
  Node 3651 27 (Lshr 3650 3649);
  Node 3652 6 (Sub 3639 3615);
  Node 3653 27 (Concat 3465 58);
  Node 3654 27 (Lshr 3653 3652);
  Node 3655 6 (Sub 3639 3616);
  Node 3656 27 (Concat 3509 58);
  Node 3657 27 (Lshr 3656 3655);
  Node 3658 6 (Sub 3639 3617);
  Node 3659 27 (Concat 3553 58);
  Node 3660 27 (Lshr 3659 3658);
  Node 3661 6 (Sub 3639 3618);
  Node 3662 27 (Concat 3597 58);
  Node 3663 27 (Lshr 3662 3661);
  Node 3664 15 (Const 0);
  Node 3665 26 (Const 0);
  Node 3666 26 (Lshr 3665 3638);
  Node 3667 28 (Zext 3642);
  Node 3668 28 (Neg 3667);
  Node 3669 28 (Ite 3288 3668 3667);
  Node 3670 28 (Zext 3645);
  Node 3671 28 (Neg 3670);
  Node 3672 28 (Ite 3332 3671 3670);
  Node 3673 28 (Zext 3648);
  Node 3674 28 (Neg 3673);
  Node 3675 28 (Ite 3376 3674 3673);
  Node 3676 28 (Zext 3651);
  Node 3677 28 (Neg 3676);
  Node 3678 28 (Ite 3420 3677 3676);
  Node 3679 28 (Zext 3654);
  Node 3680 28 (Neg 3679);
  Node 3681 28 (Ite 3464 3680 3679);
  Node 3682 28 (Zext 3657);
  Node 3683 28 (Neg 3682);
  Node 3684 28 (Ite 3508 3683 3682);
  Node 3685 28 (Zext 3660);
  Node 3686 28 (Neg 3685);
  Node 3687 28 (Ite 3552 3686 3685);
  Node 3688 28 (Zext 3663);
  Node 3689 28 (Neg 3688);
  Node 3690 28 (Ite 3596 3689 3688);
  Node 3691 27 (Zext 3666);
  Node 3693 32 (Sext 3669);
  Node 3694 32 (Sext 3672);
  Node 3695 32 (Sext 3675);
  Node 3696 32 (Sext 3678);
  Node 3697 32 (Sext 3681);
  Node 3698 32 (Sext 3684);
  Node 3699 32 (Sext 3687);
  Node 3700 32 (Sext 3690);
  Node 3701 32 (Sext 3691);
  Node 3702 32 (Add 3693 3694);
  Node 3703 32 (Add 3695 3696);
  Node 3704 32 (Add 3697 3698);
  Node 3705 32 (Add 3699 3700);
  Node 3706 32 (Add 3702 3703);
  Node 3707 32 (Add 3704 3705);
  Node 3708 32 (Add 3706 3707);
  Node 3709 32 (Add 3701 3708);
  Node 3710 33 (Sext 3709);
  Node 3720 1 (Extract 32 3710);
  Node 3721 33 (Neg 3710);
  Node 3722 33 (Ite 3720 3721 3710);
  Node 3723 32 (Extract 0 3722);
  Node 3724 1 (Ult 3638 3619);
  Node 3725 6 (Sub 3619 3638);
  Node 3726 6 (Ite 3724 3725 71);
  Node 3727 6 (Const 32);
  Node 3728 1 (Ult 3726 3727);
  Node 3729 6 (Ite 3728 3726 3727);
  Node 3730 32 (Lshr 3723 3729);
  Node 3731 32 (Shl 3730 3729);
  Node 3732 1 (Eq 3723 3731);
  Node 3733 1 (Not 3732);
  Node 3734 32 (Zext 3733);
  Node 3735 32 (Or 3730 3734);
  Node 3736 6 (Ite 3724 3619 3638);
  Node 3737 6 (Sub 3736 3619);
  Node 3738 1 (Extract 5 3737);
  Node 3739 1 (Eq 49 3738);
  Node 3740 1 (Not 3739);
  Node 3741 5 (Extract 0 3737);
  Node 3742 5 (Ite 3740 3255 3741);
  Node 3743 16 (Extract 16 3735);
  Node 3744 1 (Eq 3252 3743);
  Node 3745 1 (Extract 4 3742);
  Node 3746 1 (Not 3744);
  Node 3747 1 (And 3745 3746);
  Node 3748 1 (And 3744 3745);
  Node 3749 16 (Extract 0 3735);
  Node 3750 32 (Concat 3749 3252);
  Node 3751 32 (Ite 3748 3750 3735);
  Node 3752 8 (Extract 24 3751);
  Node 3753 1 (Eq 65 3752);
  Node 3754 1 (Extract 3 3742);
  Node 3755 1 (Or 3747 3754);
  Node 3756 1 (Not 3753);
  Node 3757 1 (And 3754 3756);
  Node 3758 1 (Or 3747 3757);
  Node 3759 1 (And 3753 3755);
  Node 3760 24 (Extract 0 3751);
  Node 3761 32 (Concat 3760 65);
  Node 3762 32 (Ite 3759 3761 3751);
  Node 3763 4 (Extract 28 3762);
  Node 3764 1 (Eq 37 3763);
  Node 3765 1 (Extract 2 3742);
  Node 3766 1 (Or 3758 3765);
  Node 3767 1 (Not 3764);
  Node 3768 1 (And 3765 3767);
  Node 3769 1 (Or 3758 3768);
  Node 3770 1 (And 3764 3766);
  Node 3771 28 (Extract 0 3762);
  Node 3772 32 (Concat 3771 37);
  Node 3773 32 (Ite 3770 3772 3762);
  Node 3774 2 (Extract 30 3773);
  Node 3775 1 (Eq 86 3774);
  Node 3776 1 (Extract 1 3742);
  Node 3777 1 (Or 3769 3776);
  Node 3778 1 (Not 3775);
  Node 3779 1 (And 3776 3778);
  Node 3780 1 (Or 3769 3779);
  Node 3781 1 (And 3775 3777);
  Node 3782 30 (Extract 0 3773);
  Node 3783 32 (Concat 3782 86);
  Node 3784 32 (Ite 3781 3783 3773);
  Node 3785 1 (Extract 31 3784);
  Node 3786 1 (Eq 49 3785);
  Node 3787 1 (Extract 0 3742);
  Node 3788 1 (Or 3780 3787);
  Node 3792 1 (And 3786 3788);
  Node 3793 31 (Extract 0 3784);
  Node 3794 32 (Concat 3793 49);
  Node 3795 32 (Ite 3792 3794 3784);
  Node 3796 2 (Concat 3748 3759);
  Node 3797 3 (Concat 3796 3770);
  Node 3798 4 (Concat 3797 3781);
  Node 3799 5 (Concat 3798 3792);
  Node 3800 6 (Zext 3799);
  Node 3801 6 (Sub 3737 3800);
  Node 3802 11 (Extract 21 3795);
  Node 3803 1 (Extract 20 3795);
  Node 3804 20 (Extract 0 3795);
  Node 3805 20 (Const 0);
  Node 3806 1 (Eq 3804 3805);
  Node 3807 1 (Not 3806);
  Node 3808 1 (Extract 21 3795);
  Node 3809 1 (Or 3807 3808);
  Node 3810 1 (And 3803 3809);
  Node 3811 12 (Zext 3802);
  Node 3812 12 (Zext 3810);
  Node 3813 12 (Add 3811 3812);
  Node 3814 1 (Extract 11 3813);
  Node 3815 11 (Extract 0 3813);
  Node 3816 11 (Ite 3814 125 3815);
  Node 3817 1 (Eq 128 3816);
  Node 3818 7 (Zext 3801);
  Node 3819 7 (Zext 3814);
  Node 3820 7 (Add 3818 3819);
  Node 3821 1 (Not 3817);
  Node 3822 7 (Const 29);
  Node 3823 1 (Ult 3822 3820);
  Node 3824 1 (And 3821 3823);
  Node 3825 7 (Const 0);
  Node 3826 7 (Ite 3817 3825 3820);
  Node 3827 5 (Extract 0 3826);
  Node 3828 1 (Not 3288);
  Node 3829 1 (And 3301 3828);
  Node 3830 1 (Not 3332);
  Node 3831 1 (And 3345 3830);
  Node 3832 1 (Not 3376);
  Node 3833 1 (And 3389 3832);
  Node 3834 1 (Not 3420);
  Node 3835 1 (And 3433 3834);
  Node 3836 1 (Not 3464);
  Node 3837 1 (And 3477 3836);
  Node 3838 1 (Not 3508);
  Node 3839 1 (And 3521 3838);
  Node 3840 1 (Not 3552);
  Node 3841 1 (And 3565 3840);
  Node 3842 1 (Not 3596);
  Node 3843 1 (And 3609 3842);
  Node 3844 1 (Or 3829 3831);
  Node 3845 1 (Or 3833 3844);
  Node 3846 1 (Or 3835 3845);
  Node 3847 1 (Or 3837 3846);
  Node 3848 1 (Or 3839 3847);
  Node 3849 1 (Or 3841 3848);
  Node 3850 1 (Or 3843 3849);
  Node 3851 1 (And 3288 3301);
  Node 3852 1 (And 3332 3345);
  Node 3853 1 (And 3376 3389);
  Node 3854 1 (And 3420 3433);
  Node 3855 1 (And 3464 3477);
  Node 3856 1 (And 3508 3521);
  Node 3857 1 (And 3552 3565);
  Node 3858 1 (And 3596 3609);
  Node 3859 1 (Or 3851 3852);
  Node 3860 1 (Or 3853 3859);
  Node 3861 1 (Or 3854 3860);
  Node 3862 1 (Or 3855 3861);
  Node 3863 1 (Or 3856 3862);
  Node 3864 1 (Or 3857 3863);
  Node 3865 1 (Or 3858 3864);
  Node 3866 1 (Or 3298 3342);
  Node 3867 1 (Or 3386 3866);
  Node 3868 1 (Or 3430 3867);
  Node 3869 1 (Or 3474 3868);
  Node 3870 1 (Or 3518 3869);
  Node 3871 1 (Or 3562 3870);
  Node 3872 1 (Or 3606 3871);
  Node 3873 1 (And 3850 3865);
  Node 3874 1 (Or 3872 3873);
  Node 3875 1 (Or 3850 3865);
  Node 3876 1 (Or 3824 3875);
  Node 3877 1 (Not 3874);
  Node 3878 1 (And 3876 3877);
  Node 3879 1 (And 3720 3821);
  Node 3880 1 (Ite 3875 3865 3879);
  Node 3884 1 (Extract 10 3816);
  Node 3885 5 (Zext 3884);
  Node 3886 5 (Add 3827 3885);
  Node 3887 10 (Extract 0 3816);
  Node 3888 15 (Concat 3886 3887);
  Node 3889 16 (Concat 3880 3888);
  Node 3890 16 (Concat 3880 148);
  Node 3891 16 (Ite 3878 3890 3889);
  Node 3892 16 (Ite 3874 3257 3891);
  Node 3893 5 (Extract 10 3892);
  Node 3894 1 (Extract 15 3892);
  Node 3895 1 (Eq 58 3893);
  Node 3896 1 (Not 3895);
  Node 3897 10 (Extract 0 3892);
  Node 3898 11 (Concat 3896 3897);
  Node 3899 1 (Eq 53 3897);
  Node 3901 1 (And 3895 3899);
  Node 3902 1 (Eq 3255 3893);
  Node 3903 1 (And 3899 3902);
  Node 3904 1 (Not 3899);
  Node 3905 1 (And 3902 3904);
  Node 3906 5 (Zext 3895);
  Node 3907 5 (Or 3893 3906);
  Node 3908 5 (Extract 10 351);
  Node 3909 1 (Extract 15 351);
  Node 3910 1 (Eq 58 3908);
  Node 3911 1 (Not 3910);
  Node 3912 10 (Extract 0 351);
  Node 3913 11 (Concat 3911 3912);
  Node 3914 1 (Eq 53 3912);
  Node 3916 1 (And 3910 3914);
  Node 3917 1 (Eq 3255 3908);
  Node 3918 1 (And 3914 3917);
  Node 3919 1 (Not 3914);
  Node 3920 1 (And 3917 3919);
  Node 3921 5 (Zext 3910);
  Node 3922 5 (Or 3908 3921);
  Node 3923 5 (Extract 10 1951);
  Node 3924 1 (Extract 15 1951);
  Node 3925 1 (Eq 58 3923);
  Node 3926 1 (Not 3925);
  Node 3927 10 (Extract 0 1951);
  Node 3928 11 (Concat 3926 3927);
  Node 3929 1 (Eq 53 3927);
  Node 3931 1 (And 3925 3929);
  Node 3932 1 (Eq 3255 3923);
  Node 3933 1 (And 3929 3932);
  Node 3934 1 (Not 3929);
  Node 3935 1 (And 3932 3934);
  Node 3936 5 (Zext 3925);
  Node 3937 5 (Or 3923 3936);
  Node 3938 1 (Xor 3909 3924);
  Node 3939 22 (Mul 3913 3928);
  Node 3940 6 (Zext 3922);
  Node 3941 6 (Zext 3937);
  Node 3942 6 (Add 3940 3941);
  Node 3943 1 (Or 3916 3931);
  Node 3944 1 (And 3918 3931);
  Node 3945 1 (And 3916 3933);
  Node 3946 1 (Or 3944 3945);
  Node 3947 1 (Or 3920 3935);
  Node 3948 1 (Or 3946 3947);
  Node 3949 1 (Or 3918 3933);
  Node 3950 1 (Not 3948);
  Node 3951 1 (And 3949 3950);
  Node 3952 5 (Extract 10 451);
  Node 3953 1 (Extract 15 451);
  Node 3954 1 (Eq 58 3952);
  Node 3955 1 (Not 3954);
  Node 3956 10 (Extract 0 451);
  Node 3957 11 (Concat 3955 3956);
  Node 3958 1 (Eq 53 3956);
  Node 3960 1 (And 3954 3958);
  Node 3961 1 (Eq 3255 3952);
  Node 3962 1 (And 3958 3961);
  Node 3963 1 (Not 3958);
  Node 3964 1 (And 3961 3963);
  Node 3965 5 (Zext 3954);
  Node 3966 5 (Or 3952 3965);
  Node 3967 5 (Extract 10 2051);
  Node 3968 1 (Extract 15 2051);
  Node 3969 1 (Eq 58 3967);
  Node 3970 1 (Not 3969);
  Node 3971 10 (Extract 0 2051);
  Node 3972 11 (Concat 3970 3971);
  Node 3973 1 (Eq 53 3971);
  Node 3975 1 (And 3969 3973);
  Node 3976 1 (Eq 3255 3967);
  Node 3977 1 (And 3973 3976);
  Node 3978 1 (Not 3973);
  Node 3979 1 (And 3976 3978);
  Node 3980 5 (Zext 3969);
  Node 3981 5 (Or 3967 3980);
  Node 3982 1 (Xor 3953 3968);
  Node 3983 22 (Mul 3957 3972);
  Node 3984 6 (Zext 3966);
  Node 3985 6 (Zext 3981);
  Node 3986 6 (Add 3984 3985);
  Node 3987 1 (Or 3960 3975);
  Node 3988 1 (And 3962 3975);
  Node 3989 1 (And 3960 3977);
  Node 3990 1 (Or 3988 3989);
  Node 3991 1 (Or 3964 3979);
  Node 3992 1 (Or 3990 3991);
  Node 3993 1 (Or 3962 3977);
  Node 3994 1 (Not 3992);
  Node 3995 1 (And 3993 3994);
  Node 3996 5 (Extract 10 751);
  Node 3997 1 (Extract 15 751);
  Node 3998 1 (Eq 58 3996);
  Node 3999 1 (Not 3998);
  Node 4000 10 (Extract 0 751);
  Node 4001 11 (Concat 3999 4000);
  Node 4002 1 (Eq 53 4000);
  Node 4004 1 (And 3998 4002);
  Node 4005 1 (Eq 3255 3996);
  Node 4006 1 (And 4002 4005);
  Node 4007 1 (Not 4002);
  Node 4008 1 (And 4005 4007);
  Node 4009 5 (Zext 3998);
  Node 4010 5 (Or 3996 4009);
  Node 4011 5 (Extract 10 2351);
  Node 4012 1 (Extract 15 2351);
  Node 4013 1 (Eq 58 4011);
  Node 4014 1 (Not 4013);
  Node 4015 10 (Extract 0 2351);
  Node 4016 11 (Concat 4014 4015);
  Node 4017 1 (Eq 53 4015);
  Node 4019 1 (And 4013 4017);
  Node 4020 1 (Eq 3255 4011);
  Node 4021 1 (And 4017 4020);
  Node 4022 1 (Not 4017);
  Node 4023 1 (And 4020 4022);
  Node 4024 5 (Zext 4013);
  Node 4025 5 (Or 4011 4024);
  Node 4026 1 (Xor 3997 4012);
  Node 4027 22 (Mul 4001 4016);
  Node 4028 6 (Zext 4010);
  Node 4029 6 (Zext 4025);
  Node 4030 6 (Add 4028 4029);
  Node 4031 1 (Or 4004 4019);
  Node 4032 1 (And 4006 4019);
  Node 4033 1 (And 4004 4021);
  Node 4034 1 (Or 4032 4033);
  Node 4035 1 (Or 4008 4023);
  Node 4036 1 (Or 4034 4035);
  Node 4037 1 (Or 4006 4021);
  Node 4038 1 (Not 4036);
  Node 4039 1 (And 4037 4038);
  Node 4040 5 (Extract 10 851);
  Node 4041 1 (Extract 15 851);
  Node 4042 1 (Eq 58 4040);
  Node 4043 1 (Not 4042);
  Node 4044 10 (Extract 0 851);
  Node 4045 11 (Concat 4043 4044);
  Node 4046 1 (Eq 53 4044);
  Node 4048 1 (And 4042 4046);
  Node 4049 1 (Eq 3255 4040);
  Node 4050 1 (And 4046 4049);
  Node 4051 1 (Not 4046);
  Node 4052 1 (And 4049 4051);
  Node 4053 5 (Zext 4042);
  Node 4054 5 (Or 4040 4053);
  Node 4055 5 (Extract 10 2451);
  Node 4056 1 (Extract 15 2451);
  Node 4057 1 (Eq 58 4055);
  Node 4058 1 (Not 4057);
  Node 4059 10 (Extract 0 2451);
  Node 4060 11 (Concat 4058 4059);
  Node 4061 1 (Eq 53 4059);
  Node 4063 1 (And 4057 4061);
  Node 4064 1 (Eq 3255 4055);
  Node 4065 1 (And 4061 4064);
  Node 4066 1 (Not 4061);
  Node 4067 1 (And 4064 4066);
  Node 4068 5 (Zext 4057);
  Node 4069 5 (Or 4055 4068);
  Node 4070 1 (Xor 4041 4056);
  Node 4071 22 (Mul 4045 4060);
  Node 4072 6 (Zext 4054);
  Node 4073 6 (Zext 4069);
  Node 4074 6 (Add 4072 4073);
  Node 4075 1 (Or 4048 4063);
  Node 4076 1 (And 4050 4063);
  Node 4077 1 (And 4048 4065);
  Node 4078 1 (Or 4076 4077);
  Node 4079 1 (Or 4052 4067);
  Node 4080 1 (Or 4078 4079);
  Node 4081 1 (Or 4050 4065);
  Node 4082 1 (Not 4080);
  Node 4083 1 (And 4081 4082);
  Node 4084 5 (Extract 10 1151);
  Node 4085 1 (Extract 15 1151);
  Node 4086 1 (Eq 58 4084);
  Node 4087 1 (Not 4086);
  Node 4088 10 (Extract 0 1151);
  Node 4089 11 (Concat 4087 4088);
  Node 4090 1 (Eq 53 4088);
  Node 4092 1 (And 4086 4090);
  Node 4093 1 (Eq 3255 4084);
  Node 4094 1 (And 4090 4093);
  Node 4095 1 (Not 4090);
  Node 4096 1 (And 4093 4095);
  Node 4097 5 (Zext 4086);
  Node 4098 5 (Or 4084 4097);
  Node 4099 5 (Extract 10 2751);
  Node 4100 1 (Extract 15 2751);
  Node 4101 1 (Eq 58 4099);
  Node 4102 1 (Not 4101);
  Node 4103 10 (Extract 0 2751);
  Node 4104 11 (Concat 4102 4103);
  Node 4105 1 (Eq 53 4103);
  Node 4107 1 (And 4101 4105);
  Node 4108 1 (Eq 3255 4099);
  Node 4109 1 (And 4105 4108);
  Node 4110 1 (Not 4105);
  Node 4111 1 (And 4108 4110);
  Node 4112 5 (Zext 4101);
  Node 4113 5 (Or 4099 4112);
  Node 4114 1 (Xor 4085 4100);
  Node 4115 22 (Mul 4089 4104);
  Node 4116 6 (Zext 4098);
  Node 4117 6 (Zext 4113);
  Node 4118 6 (Add 4116 4117);
  Node 4119 1 (Or 4092 4107);
  Node 4120 1 (And 4094 4107);
  Node 4121 1 (And 4092 4109);
  Node 4122 1 (Or 4120 4121);
  Node 4123 1 (Or 4096 4111);
  Node 4124 1 (Or 4122 4123);
  Node 4125 1 (Or 4094 4109);
  Node 4126 1 (Not 4124);
  Node 4127 1 (And 4125 4126);
  Node 4128 5 (Extract 10 1251);
  Node 4129 1 (Extract 15 1251);
  Node 4130 1 (Eq 58 4128);
  Node 4131 1 (Not 4130);
  Node 4132 10 (Extract 0 1251);
  Node 4133 11 (Concat 4131 4132);
  Node 4134 1 (Eq 53 4132);
  Node 4136 1 (And 4130 4134);
  Node 4137 1 (Eq 3255 4128);
  Node 4138 1 (And 4134 4137);
  Node 4139 1 (Not 4134);
  Node 4140 1 (And 4137 4139);
  Node 4141 5 (Zext 4130);
  Node 4142 5 (Or 4128 4141);
  Node 4143 5 (Extract 10 2851);
  Node 4144 1 (Extract 15 2851);
  Node 4145 1 (Eq 58 4143);
  Node 4146 1 (Not 4145);
  Node 4147 10 (Extract 0 2851);
  Node 4148 11 (Concat 4146 4147);
  Node 4149 1 (Eq 53 4147);
  Node 4151 1 (And 4145 4149);
  Node 4152 1 (Eq 3255 4143);
  Node 4153 1 (And 4149 4152);
  Node 4154 1 (Not 4149);
  Node 4155 1 (And 4152 4154);
  Node 4156 5 (Zext 4145);
  Node 4157 5 (Or 4143 4156);
  Node 4158 1 (Xor 4129 4144);
  Node 4159 22 (Mul 4133 4148);
  Node 4160 6 (Zext 4142);
  Node 4161 6 (Zext 4157);
  Node 4162 6 (Add 4160 4161);
  Node 4163 1 (Or 4136 4151);
  Node 4164 1 (And 4138 4151);
  Node 4165 1 (And 4136 4153);
  Node 4166 1 (Or 4164 4165);
  Node 4167 1 (Or 4140 4155);
  Node 4168 1 (Or 4166 4167);
  Node 4169 1 (Or 4138 4153);
  Node 4170 1 (Not 4168);
  Node 4171 1 (And 4169 4170);
  Node 4172 5 (Extract 10 1551);
  Node 4173 1 (Extract 15 1551);
  Node 4174 1 (Eq 58 4172);
  Node 4175 1 (Not 4174);
  Node 4176 10 (Extract 0 1551);
  Node 4177 11 (Concat 4175 4176);
  Node 4178 1 (Eq 53 4176);
  Node 4180 1 (And 4174 4178);
  Node 4181 1 (Eq 3255 4172);
  Node 4182 1 (And 4178 4181);
  Node 4183 1 (Not 4178);
  Node 4184 1 (And 4181 4183);
  Node 4185 5 (Zext 4174);
  Node 4186 5 (Or 4172 4185);
  Node 4187 5 (Extract 10 3151);
  Node 4188 1 (Extract 15 3151);
  Node 4189 1 (Eq 58 4187);
  Node 4190 1 (Not 4189);
  Node 4191 10 (Extract 0 3151);
  Node 4192 11 (Concat 4190 4191);
  Node 4193 1 (Eq 53 4191);
  Node 4195 1 (And 4189 4193);
  Node 4196 1 (Eq 3255 4187);
  Node 4197 1 (And 4193 4196);
  Node 4198 1 (Not 4193);
  Node 4199 1 (And 4196 4198);
  Node 4200 5 (Zext 4189);
  Node 4201 5 (Or 4187 4200);
  Node 4202 1 (Xor 4173 4188);
  Node 4203 22 (Mul 4177 4192);
  Node 4204 6 (Zext 4186);
  Node 4205 6 (Zext 4201);
  Node 4206 6 (Add 4204 4205);
  Node 4207 1 (Or 4180 4195);
  Node 4208 1 (And 4182 4195);
  Node 4209 1 (And 4180 4197);
  Node 4210 1 (Or 4208 4209);
  Node 4211 1 (Or 4184 4199);
  Node 4212 1 (Or 4210 4211);
  Node 4213 1 (Or 4182 4197);
  Node 4214 1 (Not 4212);
  Node 4215 1 (And 4213 4214);
  Node 4216 5 (Extract 10 1651);
  Node 4217 1 (Extract 15 1651);
  Node 4218 1 (Eq 58 4216);
  Node 4219 1 (Not 4218);
  Node 4220 10 (Extract 0 1651);
  Node 4221 11 (Concat 4219 4220);
  Node 4222 1 (Eq 53 4220);
  Node 4224 1 (And 4218 4222);
  Node 4225 1 (Eq 3255 4216);
  Node 4226 1 (And 4222 4225);
  Node 4227 1 (Not 4222);
  Node 4228 1 (And 4225 4227);
  Node 4229 5 (Zext 4218);
  Node 4230 5 (Or 4216 4229);
  Node 4231 5 (Extract 10 3251);
  Node 4232 1 (Extract 15 3251);
  Node 4233 1 (Eq 58 4231);
  Node 4234 1 (Not 4233);
  Node 4235 10 (Extract 0 3251);
  Node 4236 11 (Concat 4234 4235);
  Node 4237 1 (Eq 53 4235);
  Node 4239 1 (And 4233 4237);
  Node 4240 1 (Eq 3255 4231);
  Node 4241 1 (And 4237 4240);
  Node 4242 1 (Not 4237);
  Node 4243 1 (And 4240 4242);
  Node 4244 5 (Zext 4233);
  Node 4245 5 (Or 4231 4244);
  Node 4246 1 (Xor 4217 4232);
  Node 4247 22 (Mul 4221 4236);
  Node 4248 6 (Zext 4230);
  Node 4249 6 (Zext 4245);
  Node 4250 6 (Add 4248 4249);
  Node 4251 1 (Or 4224 4239);
  Node 4252 1 (And 4226 4239);
  Node 4253 1 (And 4224 4241);
  Node 4254 1 (Or 4252 4253);
  Node 4255 1 (Or 4228 4243);
  Node 4256 1 (Or 4254 4255);
  Node 4257 1 (Or 4226 4241);
  Node 4258 1 (Not 4256);
  Node 4259 1 (And 4257 4258);
  Node 4260 6 (Ite 3943 3610 3942);
  Node 4261 6 (Ite 3987 3610 3986);
  Node 4262 6 (Ite 4031 3610 4030);
  Node 4263 6 (Ite 4075 3610 4074);
  Node 4264 6 (Ite 4119 3610 4118);
  Node 4265 6 (Ite 4163 3610 4162);
  Node 4266 6 (Ite 4207 3610 4206);
  Node 4267 6 (Ite 4251 3610 4250);
  Node 4268 6 (Zext 3907);
  Node 4269 6 (Add 3620 4268);
  Node 4270 6 (Ite 3901 71 4269);
  Node 4271 6 (Add 3610 4270);
  Node 4272 1 (Ult 4260 4261);
  Node 4273 6 (Ite 4272 4261 4260);
  Node 4274 1 (Ult 4262 4263);
  Node 4275 6 (Ite 4274 4263 4262);
  Node 4276 1 (Ult 4264 4265);
  Node 4277 6 (Ite 4276 4265 4264);
  Node 4278 1 (Ult 4266 4267);
  Node 4279 6 (Ite 4278 4267 4266);
  Node 4280 1 (Ult 4273 4275);
  Node 4281 6 (Ite 4280 4275 4273);
  Node 4282 1 (Ult 4277 4279);
  Node 4283 6 (Ite 4282 4279 4277);
  Node 4284 1 (Ult 4281 4283);
  Node 4285 6 (Ite 4284 4283 4281);
  Node 4286 1 (Ult 4285 4271);
  Node 4287 6 (Ite 4286 4271 4285);
  Node 4288 6 (Sub 4287 3610);
  Node 4289 6 (Add 3610 4288);
  Node 4290 6 (Sub 4289 4260);
  Node 4291 27 (Concat 3939 58);
  Node 4292 27 (Lshr 4291 4290);
  Node 4293 6 (Sub 4289 4261);
  Node 4294 27 (Concat 3983 58);
  Node 4295 27 (Lshr 4294 4293);
  Node 4296 6 (Sub 4289 4262);
  Node 4297 27 (Concat 4027 58);
  Node 4298 27 (Lshr 4297 4296);
  Node 4299 6 (Sub 4289 4263);
  Node 4300 27 (Concat 4071 58);
  Node 4301 27 (Lshr 4300 4299);
  Node 4302 6 (Sub 4289 4264);
  Node 4303 27 (Concat 4115 58);
  Node 4304 27 (Lshr 4303 4302);
  Node 4305 6 (Sub 4289 4265);
  Node 4306 27 (Concat 4159 58);
  Node 4307 27 (Lshr 4306 4305);
  Node 4308 6 (Sub 4289 4266);
  Node 4309 27 (Concat 4203 58);
  Node 4310 27 (Lshr 4309 4308);
  Node 4311 6 (Sub 4289 4267);
  Node 4312 27 (Concat 4247 58);
  Node 4313 27 (Lshr 4312 4311);
  Node 4314 6 (Sub 4288 4270);
  Node 4315 26 (Concat 3898 3664);
  Node 4316 26 (Lshr 4315 4314);
  Node 4317 28 (Zext 4292);
  Node 4318 28 (Neg 4317);
  Node 4319 28 (Ite 3938 4318 4317);
  Node 4320 28 (Zext 4295);
  Node 4321 28 (Neg 4320);
  Node 4322 28 (Ite 3982 4321 4320);
  Node 4323 28 (Zext 4298);
  Node 4324 28 (Neg 4323);
  Node 4325 28 (Ite 4026 4324 4323);
  Node 4326 28 (Zext 4301);
  Node 4327 28 (Neg 4326);
  Node 4328 28 (Ite 4070 4327 4326);
  Node 4329 28 (Zext 4304);
  Node 4330 28 (Neg 4329);
  Node 4331 28 (Ite 4114 4330 4329);
  Node 4332 28 (Zext 4307);
  Node 4333 28 (Neg 4332);
  Node 4334 28 (Ite 4158 4333 4332);
  Node 4335 28 (Zext 4310);
  Node 4336 28 (Neg 4335);
  Node 4337 28 (Ite 4202 4336 4335);
  Node 4338 28 (Zext 4313);
  Node 4339 28 (Neg 4338);
  Node 4340 28 (Ite 4246 4339 4338);
  Node 4341 27 (Zext 4316);
  Node 4342 27 (Neg 4341);
  Node 4343 27 (Ite 3894 4342 4341);
  Node 4344 32 (Sext 4319);
  Node 4345 32 (Sext 4322);
  Node 4346 32 (Sext 4325);
  Node 4347 32 (Sext 4328);
  Node 4348 32 (Sext 4331);
  Node 4349 32 (Sext 4334);
  Node 4350 32 (Sext 4337);
  Node 4351 32 (Sext 4340);
  Node 4352 32 (Sext 4343);
  Node 4353 32 (Add 4344 4345);
  Node 4354 32 (Add 4346 4347);
  Node 4355 32 (Add 4348 4349);
  Node 4356 32 (Add 4350 4351);
  Node 4357 32 (Add 4353 4354);
  Node 4358 32 (Add 4355 4356);
  Node 4359 32 (Add 4357 4358);
  Node 4360 32 (Add 4352 4359);
  Node 4361 33 (Sext 4360);
  Node 4371 1 (Extract 32 4361);
  Node 4372 33 (Neg 4361);
  Node 4373 33 (Ite 4371 4372 4361);
  Node 4374 32 (Extract 0 4373);
  Node 4375 1 (Ult 4288 3619);
  Node 4376 6 (Sub 3619 4288);
  Node 4377 6 (Ite 4375 4376 71);
  Node 4378 1 (Ult 4377 3727);
  Node 4379 6 (Ite 4378 4377 3727);
  Node 4380 32 (Lshr 4374 4379);
  Node 4381 32 (Shl 4380 4379);
  Node 4382 1 (Eq 4374 4381);
  Node 4383 1 (Not 4382);
  Node 4384 32 (Zext 4383);
  Node 4385 32 (Or 4380 4384);
  Node 4386 6 (Ite 4375 3619 4288);
  Node 4387 6 (Sub 4386 3619);
  Node 4388 1 (Extract 5 4387);
  Node 4389 1 (Eq 49 4388);
  Node 4390 1 (Not 4389);
  Node 4391 5 (Extract 0 4387);
  Node 4392 5 (Ite 4390 3255 4391);
  Node 4393 16 (Extract 16 4385);
  Node 4394 1 (Eq 3252 4393);
  Node 4395 1 (Extract 4 4392);
  Node 4396 1 (Not 4394);
  Node 4397 1 (And 4395 4396);
  Node 4398 1 (And 4394 4395);
  Node 4399 16 (Extract 0 4385);
  Node 4400 32 (Concat 4399 3252);
  Node 4401 32 (Ite 4398 4400 4385);
  Node 4402 8 (Extract 24 4401);
  Node 4403 1 (Eq 65 4402);
  Node 4404 1 (Extract 3 4392);
  Node 4405 1 (Or 4397 4404);
  Node 4406 1 (Not 4403);
  Node 4407 1 (And 4404 4406);
  Node 4408 1 (Or 4397 4407);
  Node 4409 1 (And 4403 4405);
  Node 4410 24 (Extract 0 4401);
  Node 4411 32 (Concat 4410 65);
  Node 4412 32 (Ite 4409 4411 4401);
  Node 4413 4 (Extract 28 4412);
  Node 4414 1 (Eq 37 4413);
  Node 4415 1 (Extract 2 4392);
  Node 4416 1 (Or 4408 4415);
  Node 4417 1 (Not 4414);
  Node 4418 1 (And 4415 4417);
  Node 4419 1 (Or 4408 4418);
  Node 4420 1 (And 4414 4416);
  Node 4421 28 (Extract 0 4412);
  Node 4422 32 (Concat 4421 37);
  Node 4423 32 (Ite 4420 4422 4412);
  Node 4424 2 (Extract 30 4423);
  Node 4425 1 (Eq 86 4424);
  Node 4426 1 (Extract 1 4392);
  Node 4427 1 (Or 4419 4426);
  Node 4428 1 (Not 4425);
  Node 4429 1 (And 4426 4428);
  Node 4430 1 (Or 4419 4429);
  Node 4431 1 (And 4425 4427);
  Node 4432 30 (Extract 0 4423);
  Node 4433 32 (Concat 4432 86);
  Node 4434 32 (Ite 4431 4433 4423);
  Node 4435 1 (Extract 31 4434);
  Node 4436 1 (Eq 49 4435);
  Node 4437 1 (Extract 0 4392);
  Node 4438 1 (Or 4430 4437);
  Node 4442 1 (And 4436 4438);
  Node 4443 31 (Extract 0 4434);
  Node 4444 32 (Concat 4443 49);
  Node 4445 32 (Ite 4442 4444 4434);
  Node 4446 2 (Concat 4398 4409);
  Node 4447 3 (Concat 4446 4420);
  Node 4448 4 (Concat 4447 4431);
  Node 4449 5 (Concat 4448 4442);
  Node 4450 6 (Zext 4449);
  Node 4451 6 (Sub 4387 4450);
  Node 4452 11 (Extract 21 4445);
  Node 4453 1 (Extract 20 4445);
  Node 4454 20 (Extract 0 4445);
  Node 4455 1 (Eq 3805 4454);
  Node 4456 1 (Not 4455);
  Node 4457 1 (Extract 21 4445);
  Node 4458 1 (Or 4456 4457);
  Node 4459 1 (And 4453 4458);
  Node 4460 12 (Zext 4452);
  Node 4461 12 (Zext 4459);
  Node 4462 12 (Add 4460 4461);
  Node 4463 1 (Extract 11 4462);
  Node 4464 11 (Extract 0 4462);
  Node 4465 11 (Ite 4463 125 4464);
  Node 4466 1 (Eq 128 4465);
  Node 4467 7 (Zext 4451);
  Node 4468 7 (Zext 4463);
  Node 4469 7 (Add 4467 4468);
  Node 4470 1 (Not 4466);
  Node 4471 1 (Ult 3822 4469);
  Node 4472 1 (And 4470 4471);
  Node 4473 7 (Ite 4466 3825 4469);
  Node 4474 5 (Extract 0 4473);
  Node 4475 1 (Not 3938);
  Node 4476 1 (And 3951 4475);
  Node 4477 1 (Not 3982);
  Node 4478 1 (And 3995 4477);
  Node 4479 1 (Not 4026);
  Node 4480 1 (And 4039 4479);
  Node 4481 1 (Not 4070);
  Node 4482 1 (And 4083 4481);
  Node 4483 1 (Not 4114);
  Node 4484 1 (And 4127 4483);
  Node 4485 1 (Not 4158);
  Node 4486 1 (And 4171 4485);
  Node 4487 1 (Not 4202);
  Node 4488 1 (And 4215 4487);
  Node 4489 1 (Not 4246);
  Node 4490 1 (And 4259 4489);
  Node 4491 1 (Not 3894);
  Node 4492 1 (And 3903 4491);
  Node 4493 1 (Or 4476 4478);
  Node 4494 1 (Or 4480 4493);
  Node 4495 1 (Or 4482 4494);
  Node 4496 1 (Or 4484 4495);
  Node 4497 1 (Or 4486 4496);
  Node 4498 1 (Or 4488 4497);
  Node 4499 1 (Or 4490 4498);
  Node 4500 1 (Or 4492 4499);
  Node 4501 1 (And 3938 3951);
  Node 4502 1 (And 3982 3995);
  Node 4503 1 (And 4026 4039);
  Node 4504 1 (And 4070 4083);
  Node 4505 1 (And 4114 4127);
  Node 4506 1 (And 4158 4171);
  Node 4507 1 (And 4202 4215);
  Node 4508 1 (And 4246 4259);
  Node 4509 1 (And 3894 3903);
  Node 4510 1 (Or 4501 4502);
  Node 4511 1 (Or 4503 4510);
  Node 4512 1 (Or 4504 4511);
  Node 4513 1 (Or 4505 4512);
  Node 4514 1 (Or 4506 4513);
  Node 4515 1 (Or 4507 4514);
  Node 4516 1 (Or 4508 4515);
  Node 4517 1 (Or 4509 4516);
  Node 4518 1 (Or 3948 3992);
  Node 4519 1 (Or 4036 4518);
  Node 4520 1 (Or 4080 4519);
  Node 4521 1 (Or 4124 4520);
  Node 4522 1 (Or 4168 4521);
  Node 4523 1 (Or 4212 4522);
  Node 4524 1 (Or 4256 4523);
  Node 4525 1 (Or 3905 4524);
  Node 4526 1 (And 4500 4517);
  Node 4527 1 (Or 4525 4526);
  Node 4528 1 (Or 4500 4517);
  Node 4529 1 (Or 4472 4528);
  Node 4530 1 (Not 4527);
  Node 4531 1 (And 4529 4530);
  Node 4532 1 (And 4371 4470);
  Node 4533 1 (Ite 4528 4517 4532);
  Node 4537 1 (Extract 10 4465);
  Node 4538 5 (Zext 4537);
  Node 4539 5 (Add 4474 4538);
  Node 4540 10 (Extract 0 4465);
  Node 4541 15 (Concat 4539 4540);
  Node 4542 16 (Concat 4533 4541);
  Node 4543 16 (Concat 4533 148);
  Node 4544 16 (Ite 4531 4543 4542);
  Node 4545 16 (Ite 4527 3257 4544);
  Node 4546 5 (Extract 10 4545);
  Node 4547 1 (Extract 15 4545);
  Node 4548 1 (Eq 58 4546);
  Node 4549 1 (Not 4548);
  Node 4550 10 (Extract 0 4545);
  Node 4551 11 (Concat 4549 4550);
  Node 4552 1 (Eq 53 4550);
  Node 4554 1 (And 4548 4552);
  Node 4555 1 (Eq 3255 4546);
  Node 4556 1 (And 4552 4555);
  Node 4557 1 (Not 4552);
  Node 4558 1 (And 4555 4557);
  Node 4559 5 (Zext 4548);
  Node 4560 5 (Or 4546 4559);
  Node 4561 5 (Extract 10 34);
  Node 4562 1 (Extract 15 34);
  Node 4563 1 (Eq 58 4561);
  Node 4564 1 (Not 4563);
  Node 4565 10 (Extract 0 34);
  Node 4566 11 (Concat 4564 4565);
  Node 4567 1 (Eq 53 4565);
  Node 4569 1 (And 4563 4567);
  Node 4570 1 (Eq 3255 4561);
  Node 4571 1 (And 4567 4570);
  Node 4572 1 (Not 4567);
  Node 4573 1 (And 4570 4572);
  Node 4574 5 (Zext 4563);
  Node 4575 5 (Or 4561 4574);
  Node 4576 8 (Extract 3 4551);
  Node 4577 1 (Eq 65 4576);
  Node 4578 3 (Extract 0 4545);
  Node 4579 11 (Concat 4578 65);
  Node 4580 11 (Ite 4577 4579 4551);
  Node 4581 4 (Extract 7 4580);
  Node 4582 1 (Eq 37 4581);
  Node 4583 7 (Extract 0 4580);
  Node 4584 11 (Concat 4583 37);
  Node 4585 11 (Ite 4582 4584 4580);
  Node 4586 2 (Extract 9 4585);
  Node 4587 1 (Eq 86 4586);
  Node 4588 9 (Extract 0 4585);
  Node 4589 11 (Concat 4588 86);
  Node 4590 11 (Ite 4587 4589 4585);
  Node 4591 1 (Extract 10 4590);
  Node 4592 1 (Eq 49 4591);
  Node 4593 10 (Extract 0 4590);
  Node 4594 11 (Concat 4593 49);
  Node 4595 11 (Ite 4592 4594 4590);
  Node 4596 2 (Concat 4577 4582);
  Node 4597 3 (Concat 4596 4587);
  Node 4598 4 (Concat 4597 4592);
  Node 4599 6 (Zext 4560);
  Node 4600 6 (Const 15);
  Node 4601 6 (Add 4599 4600);
  Node 4602 6 (Zext 4598);
  Node 4603 6 (Sub 4601 4602);
  Node 4604 6 (Ite 4554 4601 4603);
  Node 4605 8 (Extract 3 4566);
  Node 4606 1 (Eq 65 4605);
  Node 4607 3 (Extract 0 34);
  Node 4608 11 (Concat 4607 65);
  Node 4609 11 (Ite 4606 4608 4566);
  Node 4610 4 (Extract 7 4609);
  Node 4611 1 (Eq 37 4610);
  Node 4612 7 (Extract 0 4609);
  Node 4613 11 (Concat 4612 37);
  Node 4614 11 (Ite 4611 4613 4609);
  Node 4615 2 (Extract 9 4614);
  Node 4616 1 (Eq 86 4615);
  Node 4617 9 (Extract 0 4614);
  Node 4618 11 (Concat 4617 86);
  Node 4619 11 (Ite 4616 4618 4614);
  Node 4620 1 (Extract 10 4619);
  Node 4621 1 (Eq 49 4620);
  Node 4622 10 (Extract 0 4619);
  Node 4623 11 (Concat 4622 49);
  Node 4624 11 (Ite 4621 4623 4619);
  Node 4625 2 (Concat 4606 4611);
  Node 4626 3 (Concat 4625 4616);
  Node 4627 4 (Concat 4626 4621);
  Node 4628 6 (Zext 4575);
  Node 4629 6 (Add 4600 4628);
  Node 4630 6 (Zext 4627);
  Node 4631 6 (Sub 4629 4630);
  Node 4632 6 (Ite 4569 4629 4631);
  Node 4633 6 (Ite 4554 71 4604);
  Node 4634 6 (Ite 4569 71 4632);
  Node 4635 1 (Ult 4633 4634);
  Node 4636 6 (Ite 4635 4634 4633);
  Node 4637 6 (Sub 4636 4633);
  Node 4638 14 (Concat 4595 42);
  Node 4639 14 (Lshr 4638 4637);
  Node 4640 14 (Shl 4639 4637);
  Node 4641 1 (Eq 4638 4640);
  Node 4642 1 (Not 4641);
  Node 4643 14 (Zext 4642);
  Node 4644 14 (Or 4639 4643);
  Node 4645 6 (Sub 4636 4634);
  Node 4646 14 (Concat 4624 42);
  Node 4647 14 (Lshr 4646 4645);
  Node 4648 14 (Shl 4647 4645);
  Node 4649 1 (Eq 4646 4648);
  Node 4650 1 (Not 4649);
  Node 4651 14 (Zext 4650);
  Node 4652 14 (Or 4647 4651);
  Node 4653 15 (Zext 4644);
  Node 4654 15 (Neg 4653);
  Node 4655 15 (Ite 4547 4654 4653);
  Node 4656 15 (Zext 4652);
  Node 4657 15 (Neg 4656);
  Node 4658 15 (Ite 4562 4657 4656);
  Node 4659 16 (Sext 4655);
  Node 4660 16 (Sext 4658);
  Node 4661 16 (Add 4659 4660);
  Node 4662 17 (Sext 4661);
  Node 4665 1 (Extract 16 4662);
  Node 4666 17 (Neg 4662);
  Node 4667 17 (Ite 4665 4666 4662);
  Node 4668 16 (Extract 0 4667);
  Node 4669 1 (And 4547 4562);
  Node 4670 17 (Const 0);
  Node 4671 1 (Eq 4662 4670);
  Node 4672 1 (Ite 4671 4669 4665);
  Node 4673 6 (Const 14);
  Node 4674 1 (Ult 4636 4673);
  Node 4675 6 (Sub 4673 4636);
  Node 4676 6 (Ite 4674 4675 71);
  Node 4677 6 (Const 16);
  Node 4678 1 (Ult 4676 4677);
  Node 4679 6 (Ite 4678 4676 4677);
  Node 4680 5 (Extract 0 4679);
  Node 4681 16 (Lshr 4668 4680);
  Node 4682 16 (Shl 4681 4680);
  Node 4683 1 (Eq 4668 4682);
  Node 4684 1 (Not 4683);
  Node 4685 16 (Zext 4684);
  Node 4686 16 (Or 4681 4685);
  Node 4687 6 (Ite 4674 4673 4636);
  Node 4688 6 (Sub 4687 4673);
  Node 4689 2 (Extract 4 4688);
  Node 4690 1 (Eq 86 4689);
  Node 4691 1 (Not 4690);
  Node 4692 4 (Extract 0 4688);
  Node 4693 4 (Ite 4691 47 4692);
  Node 4694 8 (Extract 8 4686);
  Node 4695 1 (Eq 65 4694);
  Node 4696 1 (Extract 3 4693);
  Node 4697 1 (Not 4695);
  Node 4698 1 (And 4696 4697);
  Node 4699 1 (And 4695 4696);
  Node 4700 8 (Extract 0 4686);
  Node 4701 16 (Concat 4700 65);
  Node 4702 16 (Ite 4699 4701 4686);
  Node 4703 4 (Extract 12 4702);
  Node 4704 1 (Eq 37 4703);
  Node 4705 1 (Extract 2 4693);
  Node 4706 1 (Or 4698 4705);
  Node 4707 1 (Not 4704);
  Node 4708 1 (And 4705 4707);
  Node 4709 1 (Or 4698 4708);
  Node 4710 1 (And 4704 4706);
  Node 4711 12 (Extract 0 4702);
  Node 4712 16 (Concat 4711 37);
  Node 4713 16 (Ite 4710 4712 4702);
  Node 4714 2 (Extract 14 4713);
  Node 4715 1 (Eq 86 4714);
  Node 4716 1 (Extract 1 4693);
  Node 4717 1 (Or 4709 4716);
  Node 4718 1 (Not 4715);
  Node 4719 1 (And 4716 4718);
  Node 4720 1 (Or 4709 4719);
  Node 4721 1 (And 4715 4717);
  Node 4722 14 (Extract 0 4713);
  Node 4723 16 (Concat 4722 86);
  Node 4724 16 (Ite 4721 4723 4713);
  Node 4725 1 (Extract 15 4724);
  Node 4726 1 (Eq 49 4725);
  Node 4727 1 (Extract 0 4693);
  Node 4728 1 (Or 4720 4727);
  Node 4732 1 (And 4726 4728);
  Node 4733 15 (Extract 0 4724);
  Node 4734 16 (Concat 4733 49);
  Node 4735 16 (Ite 4732 4734 4724);
  Node 4736 2 (Concat 4699 4710);
  Node 4737 3 (Concat 4736 4721);
  Node 4738 4 (Concat 4737 4732);
  Node 4739 6 (Zext 4738);
  Node 4740 6 (Sub 4688 4739);
  Node 4741 11 (Extract 5 4735);
  Node 4742 1 (Extract 4 4735);
  Node 4743 4 (Extract 0 4735);
  Node 4744 1 (Eq 37 4743);
  Node 4745 1 (Not 4744);
  Node 4746 1 (Extract 5 4735);
  Node 4747 1 (Or 4745 4746);
  Node 4748 1 (And 4742 4747);
  Node 4749 12 (Zext 4741);
  Node 4750 12 (Zext 4748);
  Node 4751 12 (Add 4749 4750);
  Node 4752 1 (Extract 11 4751);
  Node 4753 11 (Extract 0 4751);
  Node 4754 11 (Ite 4752 125 4753);
  Node 4755 1 (Eq 128 4754);
  Node 4756 7 (Zext 4740);
  Node 4757 7 (Zext 4752);
  Node 4758 7 (Add 4756 4757);
  Node 4759 1 (Not 4755);
  Node 4760 1 (Ult 3822 4758);
  Node 4761 1 (And 4759 4760);
  Node 4762 7 (Ite 4755 3825 4758);
  Node 4763 5 (Extract 0 4762);
  Node 4764 1 (Not 4547);
  Node 4765 1 (And 4556 4764);
  Node 4766 1 (Not 4562);
  Node 4767 1 (And 4571 4766);
  Node 4768 1 (Or 4765 4767);
  Node 4769 1 (And 4547 4556);
  Node 4770 1 (And 4562 4571);
  Node 4771 1 (Or 4769 4770);
  Node 4772 1 (Or 4558 4573);
  Node 4773 1 (And 4768 4771);
  Node 4774 1 (Or 4772 4773);
  Node 4775 1 (Or 4768 4771);
  Node 4776 1 (Or 4761 4775);
  Node 4777 1 (Not 4774);
  Node 4778 1 (And 4776 4777);
  Node 4779 1 (Ite 4775 4771 4672);
  Node 4783 1 (Extract 10 4754);
  Node 4784 5 (Zext 4783);
  Node 4785 5 (Add 4763 4784);
  Node 4786 10 (Extract 0 4754);
  Node 4787 15 (Concat 4785 4786);
  Node 4788 16 (Concat 4779 4787);
  Node 4789 16 (Concat 4779 148);
  Node 4790 16 (Ite 4778 4789 4788);
  Node 4791 16 (Ite 4774 3257 4790)].
Definition unit_design : design := {| a_format := {| ebits := 4; fbits := 3; bias := 7; special := AllOnesNaN; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; b_format := {| ebits := 4; fbits := 3; bias := 7; special := AllOnesNaN; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; c_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; d_format := {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}; scales := None; converted := (Some {| ebits := 5; fbits := 10; bias := 15; special := IEEE; has_sign := true; has_zero := true; subnormals := true; ignored := 0 |}); factors := {| of_a := Kept; of_b := Kept; normalise_factors := false; exponent_step := 1; zero_terms := None; odd_negated := false; product_limit := None; product_rounding := None |}; cutting_of := Whole; block := 16%nat; odd_first := false; skips := false; c_rule := Kept; sums := OneSum (Stage {| fraction_bits := (Some 25); alignment := RZ; zero_exponent := ZeroAt (-21); carry_bits := None; normalise := false; out := {| rho := RNE; p := 10; emin := (-14); emax := 15; saturates := false; flushes := false; tiny := false; zsign := Positive |} |}); nan_word := 0x7fff; nans := OneWord; composed := (Some {| parts := [[0; 1; 4; 5; 8; 9; 12; 13]; [2; 3; 6; 7; 10; 11; 14; 15]]%nat; addition := {| fraction_bits := None; alignment := RZ; zero_exponent := ZeroNone; carry_bits := None; normalise := false; out := {| rho := RNE; p := 10; emin := (-14); emax := 15; saturates := true; flushes := false; tiny := false; zsign := IeeeSign |} |}; of_sum := Kept; of_c := Kept; addition_nan := 0x7fff |}) |}.
Definition plan : unit_plan := UnitPlan [2; 4; 6; 8; 10; 12; 14; 16; 18; 20; 22; 24; 26; 28; 30; 32]%positive [3; 5; 7; 9; 11; 13; 15; 17; 19; 21; 23; 25; 27; 29; 31; 33]%positive 34 []%positive
 [LeafPlan (Some (151, 1751)%positive) [(Some 3263%positive); (Some 3278%positive)] (Number 3288 3289 3292 (-30) 20 3298 3301);
  LeafPlan (Some (251, 1851)%positive) [(Some 3307%positive); (Some 3322%positive)] (Number 3332 3333 3336 (-30) 20 3342 3345);
  LeafPlan (Some (351, 1951)%positive) [(Some 3913%positive); (Some 3928%positive)] (Number 3938 3939 3942 (-30) 20 3948 3951);
  LeafPlan (Some (451, 2051)%positive) [(Some 3957%positive); (Some 3972%positive)] (Number 3982 3983 3986 (-30) 20 3992 3995);
  LeafPlan (Some (551, 2151)%positive) [(Some 3351%positive); (Some 3366%positive)] (Number 3376 3377 3380 (-30) 20 3386 3389);
  LeafPlan (Some (651, 2251)%positive) [(Some 3395%positive); (Some 3410%positive)] (Number 3420 3421 3424 (-30) 20 3430 3433);
  LeafPlan (Some (751, 2351)%positive) [(Some 4001%positive); (Some 4016%positive)] (Number 4026 4027 4030 (-30) 20 4036 4039);
  LeafPlan (Some (851, 2451)%positive) [(Some 4045%positive); (Some 4060%positive)] (Number 4070 4071 4074 (-30) 20 4080 4083);
  LeafPlan (Some (951, 2551)%positive) [(Some 3439%positive); (Some 3454%positive)] (Number 3464 3465 3468 (-30) 20 3474 3477);
  LeafPlan (Some (1051, 2651)%positive) [(Some 3483%positive); (Some 3498%positive)] (Number 3508 3509 3512 (-30) 20 3518 3521);
  LeafPlan (Some (1151, 2751)%positive) [(Some 4089%positive); (Some 4104%positive)] (Number 4114 4115 4118 (-30) 20 4124 4127);
  LeafPlan (Some (1251, 2851)%positive) [(Some 4133%positive); (Some 4148%positive)] (Number 4158 4159 4162 (-30) 20 4168 4171);
  LeafPlan (Some (1351, 2951)%positive) [(Some 3527%positive); (Some 3542%positive)] (Number 3552 3553 3556 (-30) 20 3562 3565);
  LeafPlan (Some (1451, 3051)%positive) [(Some 3571%positive); (Some 3586%positive)] (Number 3596 3597 3600 (-30) 20 3606 3609);
  LeafPlan (Some (1551, 3151)%positive) [(Some 4177%positive); (Some 4192%positive)] (Number 4202 4203 4206 (-30) 20 4212 4215);
  LeafPlan (Some (1651, 3251)%positive) [(Some 4221%positive); (Some 4236%positive)] (Number 4246 4247 4250 (-30) 20 4256 4259)]
 (Number 4562 4566 4575 (-15) 10 4573 4571) (Some 4566%positive) (Number 49 128 3256 (-15) 10 49 49)
 [BlockPlan (Number 49 128 3256 (-15) 10 49 49) (Sum (One 25 (Fused [Addend (Number 3288 3289 3292 (-30) 20 3298 3301) 3293 3640 3642 134217697 62; Addend (Number 3332 3333 3336 (-30) 20 3342 3345) 3337 3643 3645 134217697 62; Addend (Number 3376 3377 3380 (-30) 20 3386 3389) 3381 3646 3648 134217697 62; Addend (Number 3420 3421 3424 (-30) 20 3430 3433) 3425 3649 3651 134217697 62; Addend (Number 3464 3465 3468 (-30) 20 3474 3477) 3469 3652 3654 134217697 62; Addend (Number 3508 3509 3512 (-30) 20 3518 3521) 3513 3655 3657 134217697 62; Addend (Number 3552 3553 3556 (-30) 20 3562 3565) 3557 3658 3660 134217697 62; Addend (Number 3596 3597 3600 (-30) 20 3606 3609) 3601 3661 3663 134217697 62; Addend (Number 49 128 3256 (-15) 10 49 49) 3253 3638 3666 67076097 31] 3638 (-21) 53 (Partial 3709 (Partial 3708 (Partial 3706 (Partial 3702 (Leaf 3693 0%nat) (Leaf 3694 1%nat)) (Partial 3703 (Leaf 3695 2%nat) (Leaf 3696 3%nat))) (Partial 3707 (Partial 3704 (Leaf 3697 4%nat) (Leaf 3698 5%nat)) (Partial 3705 (Leaf 3699 6%nat) (Leaf 3700 7%nat)))) (Leaf 3701 8%nat)) 3710 (Ending 3802 3810 3801 (Number 3880 3816 3827 (-14) 10 3874 3878)))) None [(At (Number 3288 3289 3292 (-30) 20 3298 3301)); (At (Number 3332 3333 3336 (-30) 20 3342 3345)); (At (Number 3376 3377 3380 (-30) 20 3386 3389)); (At (Number 3420 3421 3424 (-30) 20 3430 3433)); (At (Number 3464 3465 3468 (-30) 20 3474 3477)); (At (Number 3508 3509 3512 (-30) 20 3518 3521)); (At (Number 3552 3553 3556 (-30) 20 3562 3565)); (At (Number 3596 3597 3600 (-30) 20 3606 3609)); (At (Number 49 128 3256 (-15) 10 49 49))]);
  BlockPlan (Number 3894 3898 3907 (-15) 10 3905 3903) (Sum (One 25 (Fused [Addend (Number 3938 3939 3942 (-30) 20 3948 3951) 3943 4290 4292 134217697 62; Addend (Number 3982 3983 3986 (-30) 20 3992 3995) 3987 4293 4295 134217697 62; Addend (Number 4026 4027 4030 (-30) 20 4036 4039) 4031 4296 4298 134217697 62; Addend (Number 4070 4071 4074 (-30) 20 4080 4083) 4075 4299 4301 134217697 62; Addend (Number 4114 4115 4118 (-30) 20 4124 4127) 4119 4302 4304 134217697 62; Addend (Number 4158 4159 4162 (-30) 20 4168 4171) 4163 4305 4307 134217697 62; Addend (Number 4202 4203 4206 (-30) 20 4212 4215) 4207 4308 4310 134217697 62; Addend (Number 4246 4247 4250 (-30) 20 4256 4259) 4251 4311 4313 134217697 62; Addend (Number 3894 3898 3907 (-15) 10 3905 3903) 3901 4314 4316 67076097 31] 4288 (-21) 53 (Partial 4360 (Partial 4359 (Partial 4357 (Partial 4353 (Leaf 4344 0%nat) (Leaf 4345 1%nat)) (Partial 4354 (Leaf 4346 2%nat) (Leaf 4347 3%nat))) (Partial 4358 (Partial 4355 (Leaf 4348 4%nat) (Leaf 4349 5%nat)) (Partial 4356 (Leaf 4350 6%nat) (Leaf 4351 7%nat)))) (Leaf 4352 8%nat)) 4361 (Ending 4452 4459 4451 (Number 4533 4465 4474 (-14) 10 4527 4531)))) None [(At (Number 3938 3939 3942 (-30) 20 3948 3951)); (At (Number 3982 3983 3986 (-30) 20 3992 3995)); (At (Number 4026 4027 4030 (-30) 20 4036 4039)); (At (Number 4070 4071 4074 (-30) 20 4080 4083)); (At (Number 4114 4115 4118 (-30) 20 4124 4127)); (At (Number 4158 4159 4162 (-30) 20 4168 4171)); (At (Number 4202 4203 4206 (-30) 20 4212 4215)); (At (Number 4246 4247 4250 (-30) 20 4256 4259)); (At (Number 3894 3898 3907 (-15) 10 3905 3903))])]
 (Some ((Number 4547 4551 4560 (-15) 10 4558 4556), (Two 13 [Operand (Number 4547 4551 4560 (-15) 10 4558 4556) 4554 31; Operand (Number 4562 4566 4575 (-15) 10 4573 4571) 4569 31] (Fused [Addend (Number 4547 4595 4604 (-30) 10 4558 4556) 4554 4637 4644 16377 46; Addend (Number 4562 4624 4632 (-30) 10 4573 4571) 4569 4645 4652 16377 46] 4636 (-30) 46 (Partial 4661 (Leaf 4659 0%nat) (Leaf 4660 1%nat)) 4662 (Ending 4741 4748 4740 (Number 4779 4754 4763 (-14) 10 4774 4778)))))) 4791.
Definition e0 := (Bits 10 5 (U 151)).
Definition e1 := (Equal e0 (Num_ 31)).
Definition e2 := (Bits 0 10 (U 151)).
Definition e3 := (Equal e2 (Num_ 0)).
Definition e4 := (Both e1 (Negation e3)).
Definition e5 := (Bits 3 4 (U 2)).
Definition e6 := (Bits 0 3 (U 2)).
Definition e7 := (Both (Equal e5 (Num_ 15)) (Equal e6 (Num_ 7))).
Definition e8 := (Negation e4).
Definition e9 := (Negation e7).
Definition e10 := (Equal (Num_ 0) (Num_ 0)).
Definition e11 := (Negation e10).
Definition e12 := (Negation (Both e1 e3)).
Definition e13 := (Negation e11).
Definition e14 := (Equal (Bits 15 1 (U 151)) (Num_ 1)).
Definition e15 := (Equal (Bits 7 1 (U 2)) (Num_ 1)).
Definition e16 := (Negation e14).
Definition e17 := (Equal e5 (Num_ 0)).
Definition e18 := (Equal e0 (Num_ 0)).
Definition e19 := (If e18 (Num_ (-14)) (Minus e0 (Num_ 15))).
Definition e20 := (Plus (Minus (If e17 (Num_ (-6)) (Minus e5 (Num_ 7))) e19) (Num_ 7)).
Definition e21 := (If e18 e2 (Plus e2 (Num_ 1024))).
Definition e22 := (If e17 e6 (Plus e6 (Num_ 8))).
Definition e23 := (Equal e22 (Num_ 0)).
Definition e24 := (Equal e19 (Num_ (-14))).
Definition e25 := (Bits 10 5 (U 1751)).
Definition e26 := (Equal e25 (Num_ 31)).
Definition e27 := (Bits 0 10 (U 1751)).
Definition e28 := (Equal e27 (Num_ 0)).
Definition e29 := (Both e26 (Negation e28)).
Definition e30 := (Bits 3 4 (U 3)).
Definition e31 := (Bits 0 3 (U 3)).
Definition e32 := (Both (Equal e30 (Num_ 15)) (Equal e31 (Num_ 7))).
Definition e33 := (Negation e29).
Definition e34 := (Negation e32).
Definition e35 := (Both e26 e28).
Definition e36 := (Negation e35).
Definition e37 := (Equal (Bits 15 1 (U 1751)) (Num_ 1)).
Definition e38 := (Equal (Bits 7 1 (U 3)) (Num_ 1)).
Definition e39 := (Negation e37).
Definition e40 := (Equal e30 (Num_ 0)).
Definition e41 := (Equal e25 (Num_ 0)).
Definition e42 := (If e41 (Num_ (-14)) (Minus e25 (Num_ 15))).
Definition e43 := (Plus (Minus (If e40 (Num_ (-6)) (Minus e30 (Num_ 7))) e42) (Num_ 7)).
Definition e44 := (If e41 e27 (Plus e27 (Num_ 1024))).
Definition e45 := (If e40 e31 (Plus e31 (Num_ 8))).
Definition e46 := (Equal e45 (Num_ 0)).
Definition e47 := (Equal e42 (Num_ (-14))).
Definition e48 := (Either (Either e4 e29) (Either (Both (Both e1 e3) (Both (Negation (Either e29 e35)) (Equal e44 (Num_ 0)))) (Both (Both (Negation (Either e4 (Both e1 e3))) (Equal e21 (Num_ 0))) e35))).
Definition e49 := (Negation (Is 3298)).
Definition e50 := (Negation e48).
Definition e51 := (Either (Both e1 e3) e35).
Definition e52 := (Negation (Is 3301)).
Definition e53 := (Negation e51).
Definition e54 := (Negation (Either (Both e14 e37) (Both e16 e39))).
Definition e55 := (Negation (Is 3288)).
Definition e56 := (Plus (U 3292) (Num_ (-30))).
Definition e57 := (Bits 10 5 (U 251)).
Definition e58 := (Equal e57 (Num_ 31)).
Definition e59 := (Bits 0 10 (U 251)).
Definition e60 := (Equal e59 (Num_ 0)).
Definition e61 := (Both e58 (Negation e60)).
Definition e62 := (Bits 3 4 (U 4)).
Definition e63 := (Bits 0 3 (U 4)).
Definition e64 := (Both (Equal e62 (Num_ 15)) (Equal e63 (Num_ 7))).
Definition e65 := (Negation e61).
Definition e66 := (Negation e64).
Definition e67 := (Both e58 e60).
Definition e68 := (Negation e67).
Definition e69 := (Equal (Bits 15 1 (U 251)) (Num_ 1)).
Definition e70 := (Equal (Bits 7 1 (U 4)) (Num_ 1)).
Definition e71 := (Negation e69).
Definition e72 := (Equal e62 (Num_ 0)).
Definition e73 := (Equal e57 (Num_ 0)).
Definition e74 := (If e73 (Num_ (-14)) (Minus e57 (Num_ 15))).
Definition e75 := (Plus (Minus (If e72 (Num_ (-6)) (Minus e62 (Num_ 7))) e74) (Num_ 7)).
Definition e76 := (If e73 e59 (Plus e59 (Num_ 1024))).
Definition e77 := (If e72 e63 (Plus e63 (Num_ 8))).
Definition e78 := (Equal e77 (Num_ 0)).
Definition e79 := (Equal e74 (Num_ (-14))).
Definition e80 := (Bits 10 5 (U 1851)).
Definition e81 := (Equal e80 (Num_ 31)).
Definition e82 := (Bits 0 10 (U 1851)).
Definition e83 := (Equal e82 (Num_ 0)).
Definition e84 := (Both e81 (Negation e83)).
Definition e85 := (Bits 3 4 (U 5)).
Definition e86 := (Bits 0 3 (U 5)).
Definition e87 := (Both (Equal e85 (Num_ 15)) (Equal e86 (Num_ 7))).
Definition e88 := (Negation e84).
Definition e89 := (Negation e87).
Definition e90 := (Both e81 e83).
Definition e91 := (Negation e90).
Definition e92 := (Equal (Bits 15 1 (U 1851)) (Num_ 1)).
Definition e93 := (Equal (Bits 7 1 (U 5)) (Num_ 1)).
Definition e94 := (Negation e92).
Definition e95 := (Equal e85 (Num_ 0)).
Definition e96 := (Equal e80 (Num_ 0)).
Definition e97 := (If e96 (Num_ (-14)) (Minus e80 (Num_ 15))).
Definition e98 := (Plus (Minus (If e95 (Num_ (-6)) (Minus e85 (Num_ 7))) e97) (Num_ 7)).
Definition e99 := (If e96 e82 (Plus e82 (Num_ 1024))).
Definition e100 := (If e95 e86 (Plus e86 (Num_ 8))).
Definition e101 := (Equal e100 (Num_ 0)).
Definition e102 := (Equal e97 (Num_ (-14))).
Definition e103 := (Either (Either e61 e84) (Either (Both e67 (Both (Negation (Either e84 e90)) (Equal e99 (Num_ 0)))) (Both (Both (Negation (Either e61 e67)) (Equal e76 (Num_ 0))) e90))).
Definition e104 := (Negation (Is 3342)).
Definition e105 := (Negation e103).
Definition e106 := (Either e67 e90).
Definition e107 := (Negation (Is 3345)).
Definition e108 := (Negation e106).
Definition e109 := (Negation (Either (Both e69 e92) (Both e71 e94))).
Definition e110 := (Negation (Is 3332)).
Definition e111 := (Plus (U 3336) (Num_ (-30))).
Definition e112 := (Bits 10 5 (U 351)).
Definition e113 := (Equal e112 (Num_ 31)).
Definition e114 := (Bits 0 10 (U 351)).
Definition e115 := (Equal e114 (Num_ 0)).
Definition e116 := (Both e113 (Negation e115)).
Definition e117 := (Bits 3 4 (U 6)).
Definition e118 := (Bits 0 3 (U 6)).
Definition e119 := (Both (Equal e117 (Num_ 15)) (Equal e118 (Num_ 7))).
Definition e120 := (Negation e116).
Definition e121 := (Negation e119).
Definition e122 := (Both e113 e115).
Definition e123 := (Negation e122).
Definition e124 := (Equal (Bits 15 1 (U 351)) (Num_ 1)).
Definition e125 := (Equal (Bits 7 1 (U 6)) (Num_ 1)).
Definition e126 := (Negation e124).
Definition e127 := (Equal e117 (Num_ 0)).
Definition e128 := (Equal e112 (Num_ 0)).
Definition e129 := (If e128 (Num_ (-14)) (Minus e112 (Num_ 15))).
Definition e130 := (Plus (Minus (If e127 (Num_ (-6)) (Minus e117 (Num_ 7))) e129) (Num_ 7)).
Definition e131 := (If e128 e114 (Plus e114 (Num_ 1024))).
Definition e132 := (If e127 e118 (Plus e118 (Num_ 8))).
Definition e133 := (Equal e132 (Num_ 0)).
Definition e134 := (Equal e129 (Num_ (-14))).
Definition e135 := (Bits 10 5 (U 1951)).
Definition e136 := (Equal e135 (Num_ 31)).
Definition e137 := (Bits 0 10 (U 1951)).
Definition e138 := (Equal e137 (Num_ 0)).
Definition e139 := (Both e136 (Negation e138)).
Definition e140 := (Bits 3 4 (U 7)).
Definition e141 := (Bits 0 3 (U 7)).
Definition e142 := (Both (Equal e140 (Num_ 15)) (Equal e141 (Num_ 7))).
Definition e143 := (Negation e139).
Definition e144 := (Negation e142).
Definition e145 := (Both e136 e138).
Definition e146 := (Negation e145).
Definition e147 := (Equal (Bits 15 1 (U 1951)) (Num_ 1)).
Definition e148 := (Equal (Bits 7 1 (U 7)) (Num_ 1)).
Definition e149 := (Negation e147).
Definition e150 := (Equal e140 (Num_ 0)).
Definition e151 := (Equal e135 (Num_ 0)).
Definition e152 := (If e151 (Num_ (-14)) (Minus e135 (Num_ 15))).
Definition e153 := (Plus (Minus (If e150 (Num_ (-6)) (Minus e140 (Num_ 7))) e152) (Num_ 7)).
Definition e154 := (If e151 e137 (Plus e137 (Num_ 1024))).
Definition e155 := (If e150 e141 (Plus e141 (Num_ 8))).
Definition e156 := (Equal e155 (Num_ 0)).
Definition e157 := (Equal e152 (Num_ (-14))).
Definition e158 := (Either (Either e116 e139) (Either (Both e122 (Both (Negation (Either e139 e145)) (Equal e154 (Num_ 0)))) (Both (Both (Negation (Either e116 e122)) (Equal e131 (Num_ 0))) e145))).
Definition e159 := (Negation (Is 3948)).
Definition e160 := (Negation e158).
Definition e161 := (Either e122 e145).
Definition e162 := (Negation (Is 3951)).
Definition e163 := (Negation e161).
Definition e164 := (Negation (Either (Both e124 e147) (Both e126 e149))).
Definition e165 := (Negation (Is 3938)).
Definition e166 := (Plus (U 3942) (Num_ (-30))).
Definition e167 := (Bits 10 5 (U 451)).
Definition e168 := (Equal e167 (Num_ 31)).
Definition e169 := (Bits 0 10 (U 451)).
Definition e170 := (Equal e169 (Num_ 0)).
Definition e171 := (Both e168 (Negation e170)).
Definition e172 := (Bits 3 4 (U 8)).
Definition e173 := (Bits 0 3 (U 8)).
Definition e174 := (Both (Equal e172 (Num_ 15)) (Equal e173 (Num_ 7))).
Definition e175 := (Negation e171).
Definition e176 := (Negation e174).
Definition e177 := (Both e168 e170).
Definition e178 := (Negation e177).
Definition e179 := (Equal (Bits 15 1 (U 451)) (Num_ 1)).
Definition e180 := (Equal (Bits 7 1 (U 8)) (Num_ 1)).
Definition e181 := (Negation e179).
Definition e182 := (Equal e172 (Num_ 0)).
Definition e183 := (Equal e167 (Num_ 0)).
Definition e184 := (If e183 (Num_ (-14)) (Minus e167 (Num_ 15))).
Definition e185 := (Plus (Minus (If e182 (Num_ (-6)) (Minus e172 (Num_ 7))) e184) (Num_ 7)).
Definition e186 := (If e183 e169 (Plus e169 (Num_ 1024))).
Definition e187 := (If e182 e173 (Plus e173 (Num_ 8))).
Definition e188 := (Equal e187 (Num_ 0)).
Definition e189 := (Equal e184 (Num_ (-14))).
Definition e190 := (Bits 10 5 (U 2051)).
Definition e191 := (Equal e190 (Num_ 31)).
Definition e192 := (Bits 0 10 (U 2051)).
Definition e193 := (Equal e192 (Num_ 0)).
Definition e194 := (Both e191 (Negation e193)).
Definition e195 := (Bits 3 4 (U 9)).
Definition e196 := (Bits 0 3 (U 9)).
Definition e197 := (Both (Equal e195 (Num_ 15)) (Equal e196 (Num_ 7))).
Definition e198 := (Negation e194).
Definition e199 := (Negation e197).
Definition e200 := (Both e191 e193).
Definition e201 := (Negation e200).
Definition e202 := (Equal (Bits 15 1 (U 2051)) (Num_ 1)).
Definition e203 := (Equal (Bits 7 1 (U 9)) (Num_ 1)).
Definition e204 := (Negation e202).
Definition e205 := (Equal e195 (Num_ 0)).
Definition e206 := (Equal e190 (Num_ 0)).
Definition e207 := (If e206 (Num_ (-14)) (Minus e190 (Num_ 15))).
Definition e208 := (Plus (Minus (If e205 (Num_ (-6)) (Minus e195 (Num_ 7))) e207) (Num_ 7)).
Definition e209 := (If e206 e192 (Plus e192 (Num_ 1024))).
Definition e210 := (If e205 e196 (Plus e196 (Num_ 8))).
Definition e211 := (Equal e210 (Num_ 0)).
Definition e212 := (Equal e207 (Num_ (-14))).
Definition e213 := (Either (Either e171 e194) (Either (Both e177 (Both (Negation (Either e194 e200)) (Equal e209 (Num_ 0)))) (Both (Both (Negation (Either e171 e177)) (Equal e186 (Num_ 0))) e200))).
Definition e214 := (Negation (Is 3992)).
Definition e215 := (Negation e213).
Definition e216 := (Either e177 e200).
Definition e217 := (Negation (Is 3995)).
Definition e218 := (Negation e216).
Definition e219 := (Negation (Either (Both e179 e202) (Both e181 e204))).
Definition e220 := (Negation (Is 3982)).
Definition e221 := (Plus (U 3986) (Num_ (-30))).
Definition e222 := (Bits 10 5 (U 551)).
Definition e223 := (Equal e222 (Num_ 31)).
Definition e224 := (Bits 0 10 (U 551)).
Definition e225 := (Equal e224 (Num_ 0)).
Definition e226 := (Both e223 (Negation e225)).
Definition e227 := (Bits 3 4 (U 10)).
Definition e228 := (Bits 0 3 (U 10)).
Definition e229 := (Both (Equal e227 (Num_ 15)) (Equal e228 (Num_ 7))).
Definition e230 := (Negation e226).
Definition e231 := (Negation e229).
Definition e232 := (Both e223 e225).
Definition e233 := (Negation e232).
Definition e234 := (Equal (Bits 15 1 (U 551)) (Num_ 1)).
Definition e235 := (Equal (Bits 7 1 (U 10)) (Num_ 1)).
Definition e236 := (Negation e234).
Definition e237 := (Equal e227 (Num_ 0)).
Definition e238 := (Equal e222 (Num_ 0)).
Definition e239 := (If e238 (Num_ (-14)) (Minus e222 (Num_ 15))).
Definition e240 := (Plus (Minus (If e237 (Num_ (-6)) (Minus e227 (Num_ 7))) e239) (Num_ 7)).
Definition e241 := (If e238 e224 (Plus e224 (Num_ 1024))).
Definition e242 := (If e237 e228 (Plus e228 (Num_ 8))).
Definition e243 := (Equal e242 (Num_ 0)).
Definition e244 := (Equal e239 (Num_ (-14))).
Definition e245 := (Bits 10 5 (U 2151)).
Definition e246 := (Equal e245 (Num_ 31)).
Definition e247 := (Bits 0 10 (U 2151)).
Definition e248 := (Equal e247 (Num_ 0)).
Definition e249 := (Both e246 (Negation e248)).
Definition e250 := (Bits 3 4 (U 11)).
Definition e251 := (Bits 0 3 (U 11)).
Definition e252 := (Both (Equal e250 (Num_ 15)) (Equal e251 (Num_ 7))).
Definition e253 := (Negation e249).
Definition e254 := (Negation e252).
Definition e255 := (Both e246 e248).
Definition e256 := (Negation e255).
Definition e257 := (Equal (Bits 15 1 (U 2151)) (Num_ 1)).
Definition e258 := (Equal (Bits 7 1 (U 11)) (Num_ 1)).
Definition e259 := (Negation e257).
Definition e260 := (Equal e250 (Num_ 0)).
Definition e261 := (Equal e245 (Num_ 0)).
Definition e262 := (If e261 (Num_ (-14)) (Minus e245 (Num_ 15))).
Definition e263 := (Plus (Minus (If e260 (Num_ (-6)) (Minus e250 (Num_ 7))) e262) (Num_ 7)).
Definition e264 := (If e261 e247 (Plus e247 (Num_ 1024))).
Definition e265 := (If e260 e251 (Plus e251 (Num_ 8))).
Definition e266 := (Equal e265 (Num_ 0)).
Definition e267 := (Equal e262 (Num_ (-14))).
Definition e268 := (Either (Either e226 e249) (Either (Both e232 (Both (Negation (Either e249 e255)) (Equal e264 (Num_ 0)))) (Both (Both (Negation (Either e226 e232)) (Equal e241 (Num_ 0))) e255))).
Definition e269 := (Negation (Is 3386)).
Definition e270 := (Negation e268).
Definition e271 := (Either e232 e255).
Definition e272 := (Negation (Is 3389)).
Definition e273 := (Negation e271).
Definition e274 := (Negation (Either (Both e234 e257) (Both e236 e259))).
Definition e275 := (Negation (Is 3376)).
Definition e276 := (Plus (U 3380) (Num_ (-30))).
Definition e277 := (Bits 10 5 (U 651)).
Definition e278 := (Equal e277 (Num_ 31)).
Definition e279 := (Bits 0 10 (U 651)).
Definition e280 := (Equal e279 (Num_ 0)).
Definition e281 := (Both e278 (Negation e280)).
Definition e282 := (Bits 3 4 (U 12)).
Definition e283 := (Bits 0 3 (U 12)).
Definition e284 := (Both (Equal e282 (Num_ 15)) (Equal e283 (Num_ 7))).
Definition e285 := (Negation e281).
Definition e286 := (Negation e284).
Definition e287 := (Both e278 e280).
Definition e288 := (Negation e287).
Definition e289 := (Equal (Bits 15 1 (U 651)) (Num_ 1)).
Definition e290 := (Equal (Bits 7 1 (U 12)) (Num_ 1)).
Definition e291 := (Negation e289).
Definition e292 := (Equal e282 (Num_ 0)).
Definition e293 := (Equal e277 (Num_ 0)).
Definition e294 := (If e293 (Num_ (-14)) (Minus e277 (Num_ 15))).
Definition e295 := (Plus (Minus (If e292 (Num_ (-6)) (Minus e282 (Num_ 7))) e294) (Num_ 7)).
Definition e296 := (If e293 e279 (Plus e279 (Num_ 1024))).
Definition e297 := (If e292 e283 (Plus e283 (Num_ 8))).
Definition e298 := (Equal e297 (Num_ 0)).
Definition e299 := (Equal e294 (Num_ (-14))).
Definition e300 := (Bits 10 5 (U 2251)).
Definition e301 := (Equal e300 (Num_ 31)).
Definition e302 := (Bits 0 10 (U 2251)).
Definition e303 := (Equal e302 (Num_ 0)).
Definition e304 := (Both e301 (Negation e303)).
Definition e305 := (Bits 3 4 (U 13)).
Definition e306 := (Bits 0 3 (U 13)).
Definition e307 := (Both (Equal e305 (Num_ 15)) (Equal e306 (Num_ 7))).
Definition e308 := (Negation e304).
Definition e309 := (Negation e307).
Definition e310 := (Both e301 e303).
Definition e311 := (Negation e310).
Definition e312 := (Equal (Bits 15 1 (U 2251)) (Num_ 1)).
Definition e313 := (Equal (Bits 7 1 (U 13)) (Num_ 1)).
Definition e314 := (Negation e312).
Definition e315 := (Equal e305 (Num_ 0)).
Definition e316 := (Equal e300 (Num_ 0)).
Definition e317 := (If e316 (Num_ (-14)) (Minus e300 (Num_ 15))).
Definition e318 := (Plus (Minus (If e315 (Num_ (-6)) (Minus e305 (Num_ 7))) e317) (Num_ 7)).
Definition e319 := (If e316 e302 (Plus e302 (Num_ 1024))).
Definition e320 := (If e315 e306 (Plus e306 (Num_ 8))).
Definition e321 := (Equal e320 (Num_ 0)).
Definition e322 := (Equal e317 (Num_ (-14))).
Definition e323 := (Either (Either e281 e304) (Either (Both e287 (Both (Negation (Either e304 e310)) (Equal e319 (Num_ 0)))) (Both (Both (Negation (Either e281 e287)) (Equal e296 (Num_ 0))) e310))).
Definition e324 := (Negation (Is 3430)).
Definition e325 := (Negation e323).
Definition e326 := (Either e287 e310).
Definition e327 := (Negation (Is 3433)).
Definition e328 := (Negation e326).
Definition e329 := (Negation (Either (Both e289 e312) (Both e291 e314))).
Definition e330 := (Negation (Is 3420)).
Definition e331 := (Plus (U 3424) (Num_ (-30))).
Definition e332 := (Bits 10 5 (U 751)).
Definition e333 := (Equal e332 (Num_ 31)).
Definition e334 := (Bits 0 10 (U 751)).
Definition e335 := (Equal e334 (Num_ 0)).
Definition e336 := (Both e333 (Negation e335)).
Definition e337 := (Bits 3 4 (U 14)).
Definition e338 := (Bits 0 3 (U 14)).
Definition e339 := (Both (Equal e337 (Num_ 15)) (Equal e338 (Num_ 7))).
Definition e340 := (Negation e336).
Definition e341 := (Negation e339).
Definition e342 := (Both e333 e335).
Definition e343 := (Negation e342).
Definition e344 := (Equal (Bits 15 1 (U 751)) (Num_ 1)).
Definition e345 := (Equal (Bits 7 1 (U 14)) (Num_ 1)).
Definition e346 := (Negation e344).
Definition e347 := (Equal e337 (Num_ 0)).
Definition e348 := (Equal e332 (Num_ 0)).
Definition e349 := (If e348 (Num_ (-14)) (Minus e332 (Num_ 15))).
Definition e350 := (Plus (Minus (If e347 (Num_ (-6)) (Minus e337 (Num_ 7))) e349) (Num_ 7)).
Definition e351 := (If e348 e334 (Plus e334 (Num_ 1024))).
Definition e352 := (If e347 e338 (Plus e338 (Num_ 8))).
Definition e353 := (Equal e352 (Num_ 0)).
Definition e354 := (Equal e349 (Num_ (-14))).
Definition e355 := (Bits 10 5 (U 2351)).
Definition e356 := (Equal e355 (Num_ 31)).
Definition e357 := (Bits 0 10 (U 2351)).
Definition e358 := (Equal e357 (Num_ 0)).
Definition e359 := (Both e356 (Negation e358)).
Definition e360 := (Bits 3 4 (U 15)).
Definition e361 := (Bits 0 3 (U 15)).
Definition e362 := (Both (Equal e360 (Num_ 15)) (Equal e361 (Num_ 7))).
Definition e363 := (Negation e359).
Definition e364 := (Negation e362).
Definition e365 := (Both e356 e358).
Definition e366 := (Negation e365).
Definition e367 := (Equal (Bits 15 1 (U 2351)) (Num_ 1)).
Definition e368 := (Equal (Bits 7 1 (U 15)) (Num_ 1)).
Definition e369 := (Negation e367).
Definition e370 := (Equal e360 (Num_ 0)).
Definition e371 := (Equal e355 (Num_ 0)).
Definition e372 := (If e371 (Num_ (-14)) (Minus e355 (Num_ 15))).
Definition e373 := (Plus (Minus (If e370 (Num_ (-6)) (Minus e360 (Num_ 7))) e372) (Num_ 7)).
Definition e374 := (If e371 e357 (Plus e357 (Num_ 1024))).
Definition e375 := (If e370 e361 (Plus e361 (Num_ 8))).
Definition e376 := (Equal e375 (Num_ 0)).
Definition e377 := (Equal e372 (Num_ (-14))).
Definition e378 := (Either (Either e336 e359) (Either (Both e342 (Both (Negation (Either e359 e365)) (Equal e374 (Num_ 0)))) (Both (Both (Negation (Either e336 e342)) (Equal e351 (Num_ 0))) e365))).
Definition e379 := (Negation (Is 4036)).
Definition e380 := (Negation e378).
Definition e381 := (Either e342 e365).
Definition e382 := (Negation (Is 4039)).
Definition e383 := (Negation e381).
Definition e384 := (Negation (Either (Both e344 e367) (Both e346 e369))).
Definition e385 := (Negation (Is 4026)).
Definition e386 := (Plus (U 4030) (Num_ (-30))).
Definition e387 := (Bits 10 5 (U 851)).
Definition e388 := (Equal e387 (Num_ 31)).
Definition e389 := (Bits 0 10 (U 851)).
Definition e390 := (Equal e389 (Num_ 0)).
Definition e391 := (Both e388 (Negation e390)).
Definition e392 := (Bits 3 4 (U 16)).
Definition e393 := (Bits 0 3 (U 16)).
Definition e394 := (Both (Equal e392 (Num_ 15)) (Equal e393 (Num_ 7))).
Definition e395 := (Negation e391).
Definition e396 := (Negation e394).
Definition e397 := (Both e388 e390).
Definition e398 := (Negation e397).
Definition e399 := (Equal (Bits 15 1 (U 851)) (Num_ 1)).
Definition e400 := (Equal (Bits 7 1 (U 16)) (Num_ 1)).
Definition e401 := (Negation e399).
Definition e402 := (Equal e392 (Num_ 0)).
Definition e403 := (Equal e387 (Num_ 0)).
Definition e404 := (If e403 (Num_ (-14)) (Minus e387 (Num_ 15))).
Definition e405 := (Plus (Minus (If e402 (Num_ (-6)) (Minus e392 (Num_ 7))) e404) (Num_ 7)).
Definition e406 := (If e403 e389 (Plus e389 (Num_ 1024))).
Definition e407 := (If e402 e393 (Plus e393 (Num_ 8))).
Definition e408 := (Equal e407 (Num_ 0)).
Definition e409 := (Equal e404 (Num_ (-14))).
Definition e410 := (Bits 10 5 (U 2451)).
Definition e411 := (Equal e410 (Num_ 31)).
Definition e412 := (Bits 0 10 (U 2451)).
Definition e413 := (Equal e412 (Num_ 0)).
Definition e414 := (Both e411 (Negation e413)).
Definition e415 := (Bits 3 4 (U 17)).
Definition e416 := (Bits 0 3 (U 17)).
Definition e417 := (Both (Equal e415 (Num_ 15)) (Equal e416 (Num_ 7))).
Definition e418 := (Negation e414).
Definition e419 := (Negation e417).
Definition e420 := (Both e411 e413).
Definition e421 := (Negation e420).
Definition e422 := (Equal (Bits 15 1 (U 2451)) (Num_ 1)).
Definition e423 := (Equal (Bits 7 1 (U 17)) (Num_ 1)).
Definition e424 := (Negation e422).
Definition e425 := (Equal e415 (Num_ 0)).
Definition e426 := (Equal e410 (Num_ 0)).
Definition e427 := (If e426 (Num_ (-14)) (Minus e410 (Num_ 15))).
Definition e428 := (Plus (Minus (If e425 (Num_ (-6)) (Minus e415 (Num_ 7))) e427) (Num_ 7)).
Definition e429 := (If e426 e412 (Plus e412 (Num_ 1024))).
Definition e430 := (If e425 e416 (Plus e416 (Num_ 8))).
Definition e431 := (Equal e430 (Num_ 0)).
Definition e432 := (Equal e427 (Num_ (-14))).
Definition e433 := (Either (Either e391 e414) (Either (Both e397 (Both (Negation (Either e414 e420)) (Equal e429 (Num_ 0)))) (Both (Both (Negation (Either e391 e397)) (Equal e406 (Num_ 0))) e420))).
Definition e434 := (Negation (Is 4080)).
Definition e435 := (Negation e433).
Definition e436 := (Either e397 e420).
Definition e437 := (Negation (Is 4083)).
Definition e438 := (Negation e436).
Definition e439 := (Negation (Either (Both e399 e422) (Both e401 e424))).
Definition e440 := (Negation (Is 4070)).
Definition e441 := (Plus (U 4074) (Num_ (-30))).
Definition e442 := (Bits 10 5 (U 951)).
Definition e443 := (Equal e442 (Num_ 31)).
Definition e444 := (Bits 0 10 (U 951)).
Definition e445 := (Equal e444 (Num_ 0)).
Definition e446 := (Both e443 (Negation e445)).
Definition e447 := (Bits 3 4 (U 18)).
Definition e448 := (Bits 0 3 (U 18)).
Definition e449 := (Both (Equal e447 (Num_ 15)) (Equal e448 (Num_ 7))).
Definition e450 := (Negation e446).
Definition e451 := (Negation e449).
Definition e452 := (Both e443 e445).
Definition e453 := (Negation e452).
Definition e454 := (Equal (Bits 15 1 (U 951)) (Num_ 1)).
Definition e455 := (Equal (Bits 7 1 (U 18)) (Num_ 1)).
Definition e456 := (Negation e454).
Definition e457 := (Equal e447 (Num_ 0)).
Definition e458 := (Equal e442 (Num_ 0)).
Definition e459 := (If e458 (Num_ (-14)) (Minus e442 (Num_ 15))).
Definition e460 := (Plus (Minus (If e457 (Num_ (-6)) (Minus e447 (Num_ 7))) e459) (Num_ 7)).
Definition e461 := (If e458 e444 (Plus e444 (Num_ 1024))).
Definition e462 := (If e457 e448 (Plus e448 (Num_ 8))).
Definition e463 := (Equal e462 (Num_ 0)).
Definition e464 := (Equal e459 (Num_ (-14))).
Definition e465 := (Bits 10 5 (U 2551)).
Definition e466 := (Equal e465 (Num_ 31)).
Definition e467 := (Bits 0 10 (U 2551)).
Definition e468 := (Equal e467 (Num_ 0)).
Definition e469 := (Both e466 (Negation e468)).
Definition e470 := (Bits 3 4 (U 19)).
Definition e471 := (Bits 0 3 (U 19)).
Definition e472 := (Both (Equal e470 (Num_ 15)) (Equal e471 (Num_ 7))).
Definition e473 := (Negation e469).
Definition e474 := (Negation e472).
Definition e475 := (Both e466 e468).
Definition e476 := (Negation e475).
Definition e477 := (Equal (Bits 15 1 (U 2551)) (Num_ 1)).
Definition e478 := (Equal (Bits 7 1 (U 19)) (Num_ 1)).
Definition e479 := (Negation e477).
Definition e480 := (Equal e470 (Num_ 0)).
Definition e481 := (Equal e465 (Num_ 0)).
Definition e482 := (If e481 (Num_ (-14)) (Minus e465 (Num_ 15))).
Definition e483 := (Plus (Minus (If e480 (Num_ (-6)) (Minus e470 (Num_ 7))) e482) (Num_ 7)).
Definition e484 := (If e481 e467 (Plus e467 (Num_ 1024))).
Definition e485 := (If e480 e471 (Plus e471 (Num_ 8))).
Definition e486 := (Equal e485 (Num_ 0)).
Definition e487 := (Equal e482 (Num_ (-14))).
Definition e488 := (Either (Either e446 e469) (Either (Both e452 (Both (Negation (Either e469 e475)) (Equal e484 (Num_ 0)))) (Both (Both (Negation (Either e446 e452)) (Equal e461 (Num_ 0))) e475))).
Definition e489 := (Negation (Is 3474)).
Definition e490 := (Negation e488).
Definition e491 := (Either e452 e475).
Definition e492 := (Negation (Is 3477)).
Definition e493 := (Negation e491).
Definition e494 := (Negation (Either (Both e454 e477) (Both e456 e479))).
Definition e495 := (Negation (Is 3464)).
Definition e496 := (Plus (U 3468) (Num_ (-30))).
Definition e497 := (Bits 10 5 (U 1051)).
Definition e498 := (Equal e497 (Num_ 31)).
Definition e499 := (Bits 0 10 (U 1051)).
Definition e500 := (Equal e499 (Num_ 0)).
Definition e501 := (Both e498 (Negation e500)).
Definition e502 := (Bits 3 4 (U 20)).
Definition e503 := (Bits 0 3 (U 20)).
Definition e504 := (Both (Equal e502 (Num_ 15)) (Equal e503 (Num_ 7))).
Definition e505 := (Negation e501).
Definition e506 := (Negation e504).
Definition e507 := (Both e498 e500).
Definition e508 := (Negation e507).
Definition e509 := (Equal (Bits 15 1 (U 1051)) (Num_ 1)).
Definition e510 := (Equal (Bits 7 1 (U 20)) (Num_ 1)).
Definition e511 := (Negation e509).
Definition e512 := (Equal e502 (Num_ 0)).
Definition e513 := (Equal e497 (Num_ 0)).
Definition e514 := (If e513 (Num_ (-14)) (Minus e497 (Num_ 15))).
Definition e515 := (Plus (Minus (If e512 (Num_ (-6)) (Minus e502 (Num_ 7))) e514) (Num_ 7)).
Definition e516 := (If e513 e499 (Plus e499 (Num_ 1024))).
Definition e517 := (If e512 e503 (Plus e503 (Num_ 8))).
Definition e518 := (Equal e517 (Num_ 0)).
Definition e519 := (Equal e514 (Num_ (-14))).
Definition e520 := (Bits 10 5 (U 2651)).
Definition e521 := (Equal e520 (Num_ 31)).
Definition e522 := (Bits 0 10 (U 2651)).
Definition e523 := (Equal e522 (Num_ 0)).
Definition e524 := (Both e521 (Negation e523)).
Definition e525 := (Bits 3 4 (U 21)).
Definition e526 := (Bits 0 3 (U 21)).
Definition e527 := (Both (Equal e525 (Num_ 15)) (Equal e526 (Num_ 7))).
Definition e528 := (Negation e524).
Definition e529 := (Negation e527).
Definition e530 := (Both e521 e523).
Definition e531 := (Negation e530).
Definition e532 := (Equal (Bits 15 1 (U 2651)) (Num_ 1)).
Definition e533 := (Equal (Bits 7 1 (U 21)) (Num_ 1)).
Definition e534 := (Negation e532).
Definition e535 := (Equal e525 (Num_ 0)).
Definition e536 := (Equal e520 (Num_ 0)).
Definition e537 := (If e536 (Num_ (-14)) (Minus e520 (Num_ 15))).
Definition e538 := (Plus (Minus (If e535 (Num_ (-6)) (Minus e525 (Num_ 7))) e537) (Num_ 7)).
Definition e539 := (If e536 e522 (Plus e522 (Num_ 1024))).
Definition e540 := (If e535 e526 (Plus e526 (Num_ 8))).
Definition e541 := (Equal e540 (Num_ 0)).
Definition e542 := (Equal e537 (Num_ (-14))).
Definition e543 := (Either (Either e501 e524) (Either (Both e507 (Both (Negation (Either e524 e530)) (Equal e539 (Num_ 0)))) (Both (Both (Negation (Either e501 e507)) (Equal e516 (Num_ 0))) e530))).
Definition e544 := (Negation (Is 3518)).
Definition e545 := (Negation e543).
Definition e546 := (Either e507 e530).
Definition e547 := (Negation (Is 3521)).
Definition e548 := (Negation e546).
Definition e549 := (Negation (Either (Both e509 e532) (Both e511 e534))).
Definition e550 := (Negation (Is 3508)).
Definition e551 := (Plus (U 3512) (Num_ (-30))).
Definition e552 := (Bits 10 5 (U 1151)).
Definition e553 := (Equal e552 (Num_ 31)).
Definition e554 := (Bits 0 10 (U 1151)).
Definition e555 := (Equal e554 (Num_ 0)).
Definition e556 := (Both e553 (Negation e555)).
Definition e557 := (Bits 3 4 (U 22)).
Definition e558 := (Bits 0 3 (U 22)).
Definition e559 := (Both (Equal e557 (Num_ 15)) (Equal e558 (Num_ 7))).
Definition e560 := (Negation e556).
Definition e561 := (Negation e559).
Definition e562 := (Both e553 e555).
Definition e563 := (Negation e562).
Definition e564 := (Equal (Bits 15 1 (U 1151)) (Num_ 1)).
Definition e565 := (Equal (Bits 7 1 (U 22)) (Num_ 1)).
Definition e566 := (Negation e564).
Definition e567 := (Equal e557 (Num_ 0)).
Definition e568 := (Equal e552 (Num_ 0)).
Definition e569 := (If e568 (Num_ (-14)) (Minus e552 (Num_ 15))).
Definition e570 := (Plus (Minus (If e567 (Num_ (-6)) (Minus e557 (Num_ 7))) e569) (Num_ 7)).
Definition e571 := (If e568 e554 (Plus e554 (Num_ 1024))).
Definition e572 := (If e567 e558 (Plus e558 (Num_ 8))).
Definition e573 := (Equal e572 (Num_ 0)).
Definition e574 := (Equal e569 (Num_ (-14))).
Definition e575 := (Bits 10 5 (U 2751)).
Definition e576 := (Equal e575 (Num_ 31)).
Definition e577 := (Bits 0 10 (U 2751)).
Definition e578 := (Equal e577 (Num_ 0)).
Definition e579 := (Both e576 (Negation e578)).
Definition e580 := (Bits 3 4 (U 23)).
Definition e581 := (Bits 0 3 (U 23)).
Definition e582 := (Both (Equal e580 (Num_ 15)) (Equal e581 (Num_ 7))).
Definition e583 := (Negation e579).
Definition e584 := (Negation e582).
Definition e585 := (Both e576 e578).
Definition e586 := (Negation e585).
Definition e587 := (Equal (Bits 15 1 (U 2751)) (Num_ 1)).
Definition e588 := (Equal (Bits 7 1 (U 23)) (Num_ 1)).
Definition e589 := (Negation e587).
Definition e590 := (Equal e580 (Num_ 0)).
Definition e591 := (Equal e575 (Num_ 0)).
Definition e592 := (If e591 (Num_ (-14)) (Minus e575 (Num_ 15))).
Definition e593 := (Plus (Minus (If e590 (Num_ (-6)) (Minus e580 (Num_ 7))) e592) (Num_ 7)).
Definition e594 := (If e591 e577 (Plus e577 (Num_ 1024))).
Definition e595 := (If e590 e581 (Plus e581 (Num_ 8))).
Definition e596 := (Equal e595 (Num_ 0)).
Definition e597 := (Equal e592 (Num_ (-14))).
Definition e598 := (Either (Either e556 e579) (Either (Both e562 (Both (Negation (Either e579 e585)) (Equal e594 (Num_ 0)))) (Both (Both (Negation (Either e556 e562)) (Equal e571 (Num_ 0))) e585))).
Definition e599 := (Negation (Is 4124)).
Definition e600 := (Negation e598).
Definition e601 := (Either e562 e585).
Definition e602 := (Negation (Is 4127)).
Definition e603 := (Negation e601).
Definition e604 := (Negation (Either (Both e564 e587) (Both e566 e589))).
Definition e605 := (Negation (Is 4114)).
Definition e606 := (Plus (U 4118) (Num_ (-30))).
Definition e607 := (Bits 10 5 (U 1251)).
Definition e608 := (Equal e607 (Num_ 31)).
Definition e609 := (Bits 0 10 (U 1251)).
Definition e610 := (Equal e609 (Num_ 0)).
Definition e611 := (Both e608 (Negation e610)).
Definition e612 := (Bits 3 4 (U 24)).
Definition e613 := (Bits 0 3 (U 24)).
Definition e614 := (Both (Equal e612 (Num_ 15)) (Equal e613 (Num_ 7))).
Definition e615 := (Negation e611).
Definition e616 := (Negation e614).
Definition e617 := (Both e608 e610).
Definition e618 := (Negation e617).
Definition e619 := (Equal (Bits 15 1 (U 1251)) (Num_ 1)).
Definition e620 := (Equal (Bits 7 1 (U 24)) (Num_ 1)).
Definition e621 := (Negation e619).
Definition e622 := (Equal e612 (Num_ 0)).
Definition e623 := (Equal e607 (Num_ 0)).
Definition e624 := (If e623 (Num_ (-14)) (Minus e607 (Num_ 15))).
Definition e625 := (Plus (Minus (If e622 (Num_ (-6)) (Minus e612 (Num_ 7))) e624) (Num_ 7)).
Definition e626 := (If e623 e609 (Plus e609 (Num_ 1024))).
Definition e627 := (If e622 e613 (Plus e613 (Num_ 8))).
Definition e628 := (Equal e627 (Num_ 0)).
Definition e629 := (Equal e624 (Num_ (-14))).
Definition e630 := (Bits 10 5 (U 2851)).
Definition e631 := (Equal e630 (Num_ 31)).
Definition e632 := (Bits 0 10 (U 2851)).
Definition e633 := (Equal e632 (Num_ 0)).
Definition e634 := (Both e631 (Negation e633)).
Definition e635 := (Bits 3 4 (U 25)).
Definition e636 := (Bits 0 3 (U 25)).
Definition e637 := (Both (Equal e635 (Num_ 15)) (Equal e636 (Num_ 7))).
Definition e638 := (Negation e634).
Definition e639 := (Negation e637).
Definition e640 := (Both e631 e633).
Definition e641 := (Negation e640).
Definition e642 := (Equal (Bits 15 1 (U 2851)) (Num_ 1)).
Definition e643 := (Equal (Bits 7 1 (U 25)) (Num_ 1)).
Definition e644 := (Negation e642).
Definition e645 := (Equal e635 (Num_ 0)).
Definition e646 := (Equal e630 (Num_ 0)).
Definition e647 := (If e646 (Num_ (-14)) (Minus e630 (Num_ 15))).
Definition e648 := (Plus (Minus (If e645 (Num_ (-6)) (Minus e635 (Num_ 7))) e647) (Num_ 7)).
Definition e649 := (If e646 e632 (Plus e632 (Num_ 1024))).
Definition e650 := (If e645 e636 (Plus e636 (Num_ 8))).
Definition e651 := (Equal e650 (Num_ 0)).
Definition e652 := (Equal e647 (Num_ (-14))).
Definition e653 := (Either (Either e611 e634) (Either (Both e617 (Both (Negation (Either e634 e640)) (Equal e649 (Num_ 0)))) (Both (Both (Negation (Either e611 e617)) (Equal e626 (Num_ 0))) e640))).
Definition e654 := (Negation (Is 4168)).
Definition e655 := (Negation e653).
Definition e656 := (Either e617 e640).
Definition e657 := (Negation (Is 4171)).
Definition e658 := (Negation e656).
Definition e659 := (Negation (Either (Both e619 e642) (Both e621 e644))).
Definition e660 := (Negation (Is 4158)).
Definition e661 := (Plus (U 4162) (Num_ (-30))).
Definition e662 := (Bits 10 5 (U 1351)).
Definition e663 := (Equal e662 (Num_ 31)).
Definition e664 := (Bits 0 10 (U 1351)).
Definition e665 := (Equal e664 (Num_ 0)).
Definition e666 := (Both e663 (Negation e665)).
Definition e667 := (Bits 3 4 (U 26)).
Definition e668 := (Bits 0 3 (U 26)).
Definition e669 := (Both (Equal e667 (Num_ 15)) (Equal e668 (Num_ 7))).
Definition e670 := (Negation e666).
Definition e671 := (Negation e669).
Definition e672 := (Both e663 e665).
Definition e673 := (Negation e672).
Definition e674 := (Equal (Bits 15 1 (U 1351)) (Num_ 1)).
Definition e675 := (Equal (Bits 7 1 (U 26)) (Num_ 1)).
Definition e676 := (Negation e674).
Definition e677 := (Equal e667 (Num_ 0)).
Definition e678 := (Equal e662 (Num_ 0)).
Definition e679 := (If e678 (Num_ (-14)) (Minus e662 (Num_ 15))).
Definition e680 := (Plus (Minus (If e677 (Num_ (-6)) (Minus e667 (Num_ 7))) e679) (Num_ 7)).
Definition e681 := (If e678 e664 (Plus e664 (Num_ 1024))).
Definition e682 := (If e677 e668 (Plus e668 (Num_ 8))).
Definition e683 := (Equal e682 (Num_ 0)).
Definition e684 := (Equal e679 (Num_ (-14))).
Definition e685 := (Bits 10 5 (U 2951)).
Definition e686 := (Equal e685 (Num_ 31)).
Definition e687 := (Bits 0 10 (U 2951)).
Definition e688 := (Equal e687 (Num_ 0)).
Definition e689 := (Both e686 (Negation e688)).
Definition e690 := (Bits 3 4 (U 27)).
Definition e691 := (Bits 0 3 (U 27)).
Definition e692 := (Both (Equal e690 (Num_ 15)) (Equal e691 (Num_ 7))).
Definition e693 := (Negation e689).
Definition e694 := (Negation e692).
Definition e695 := (Both e686 e688).
Definition e696 := (Negation e695).
Definition e697 := (Equal (Bits 15 1 (U 2951)) (Num_ 1)).
Definition e698 := (Equal (Bits 7 1 (U 27)) (Num_ 1)).
Definition e699 := (Negation e697).
Definition e700 := (Equal e690 (Num_ 0)).
Definition e701 := (Equal e685 (Num_ 0)).
Definition e702 := (If e701 (Num_ (-14)) (Minus e685 (Num_ 15))).
Definition e703 := (Plus (Minus (If e700 (Num_ (-6)) (Minus e690 (Num_ 7))) e702) (Num_ 7)).
Definition e704 := (If e701 e687 (Plus e687 (Num_ 1024))).
Definition e705 := (If e700 e691 (Plus e691 (Num_ 8))).
Definition e706 := (Equal e705 (Num_ 0)).
Definition e707 := (Equal e702 (Num_ (-14))).
Definition e708 := (Either (Either e666 e689) (Either (Both e672 (Both (Negation (Either e689 e695)) (Equal e704 (Num_ 0)))) (Both (Both (Negation (Either e666 e672)) (Equal e681 (Num_ 0))) e695))).
Definition e709 := (Negation (Is 3562)).
Definition e710 := (Negation e708).
Definition e711 := (Either e672 e695).
Definition e712 := (Negation (Is 3565)).
Definition e713 := (Negation e711).
Definition e714 := (Negation (Either (Both e674 e697) (Both e676 e699))).
Definition e715 := (Negation (Is 3552)).
Definition e716 := (Plus (U 3556) (Num_ (-30))).
Definition e717 := (Bits 10 5 (U 1451)).
Definition e718 := (Equal e717 (Num_ 31)).
Definition e719 := (Bits 0 10 (U 1451)).
Definition e720 := (Equal e719 (Num_ 0)).
Definition e721 := (Both e718 (Negation e720)).
Definition e722 := (Bits 3 4 (U 28)).
Definition e723 := (Bits 0 3 (U 28)).
Definition e724 := (Both (Equal e722 (Num_ 15)) (Equal e723 (Num_ 7))).
Definition e725 := (Negation e721).
Definition e726 := (Negation e724).
Definition e727 := (Both e718 e720).
Definition e728 := (Negation e727).
Definition e729 := (Equal (Bits 15 1 (U 1451)) (Num_ 1)).
Definition e730 := (Equal (Bits 7 1 (U 28)) (Num_ 1)).
Definition e731 := (Negation e729).
Definition e732 := (Equal e722 (Num_ 0)).
Definition e733 := (Equal e717 (Num_ 0)).
Definition e734 := (If e733 (Num_ (-14)) (Minus e717 (Num_ 15))).
Definition e735 := (Plus (Minus (If e732 (Num_ (-6)) (Minus e722 (Num_ 7))) e734) (Num_ 7)).
Definition e736 := (If e733 e719 (Plus e719 (Num_ 1024))).
Definition e737 := (If e732 e723 (Plus e723 (Num_ 8))).
Definition e738 := (Equal e737 (Num_ 0)).
Definition e739 := (Equal e734 (Num_ (-14))).
Definition e740 := (Bits 10 5 (U 3051)).
Definition e741 := (Equal e740 (Num_ 31)).
Definition e742 := (Bits 0 10 (U 3051)).
Definition e743 := (Equal e742 (Num_ 0)).
Definition e744 := (Both e741 (Negation e743)).
Definition e745 := (Bits 3 4 (U 29)).
Definition e746 := (Bits 0 3 (U 29)).
Definition e747 := (Both (Equal e745 (Num_ 15)) (Equal e746 (Num_ 7))).
Definition e748 := (Negation e744).
Definition e749 := (Negation e747).
Definition e750 := (Both e741 e743).
Definition e751 := (Negation e750).
Definition e752 := (Equal (Bits 15 1 (U 3051)) (Num_ 1)).
Definition e753 := (Equal (Bits 7 1 (U 29)) (Num_ 1)).
Definition e754 := (Negation e752).
Definition e755 := (Equal e745 (Num_ 0)).
Definition e756 := (Equal e740 (Num_ 0)).
Definition e757 := (If e756 (Num_ (-14)) (Minus e740 (Num_ 15))).
Definition e758 := (Plus (Minus (If e755 (Num_ (-6)) (Minus e745 (Num_ 7))) e757) (Num_ 7)).
Definition e759 := (If e756 e742 (Plus e742 (Num_ 1024))).
Definition e760 := (If e755 e746 (Plus e746 (Num_ 8))).
Definition e761 := (Equal e760 (Num_ 0)).
Definition e762 := (Equal e757 (Num_ (-14))).
Definition e763 := (Either (Either e721 e744) (Either (Both e727 (Both (Negation (Either e744 e750)) (Equal e759 (Num_ 0)))) (Both (Both (Negation (Either e721 e727)) (Equal e736 (Num_ 0))) e750))).
Definition e764 := (Negation (Is 3606)).
Definition e765 := (Negation e763).
Definition e766 := (Either e727 e750).
Definition e767 := (Negation (Is 3609)).
Definition e768 := (Negation e766).
Definition e769 := (Negation (Either (Both e729 e752) (Both e731 e754))).
Definition e770 := (Negation (Is 3596)).
Definition e771 := (Plus (U 3600) (Num_ (-30))).
Definition e772 := (Bits 10 5 (U 1551)).
Definition e773 := (Equal e772 (Num_ 31)).
Definition e774 := (Bits 0 10 (U 1551)).
Definition e775 := (Equal e774 (Num_ 0)).
Definition e776 := (Both e773 (Negation e775)).
Definition e777 := (Bits 3 4 (U 30)).
Definition e778 := (Bits 0 3 (U 30)).
Definition e779 := (Both (Equal e777 (Num_ 15)) (Equal e778 (Num_ 7))).
Definition e780 := (Negation e776).
Definition e781 := (Negation e779).
Definition e782 := (Both e773 e775).
Definition e783 := (Negation e782).
Definition e784 := (Equal (Bits 15 1 (U 1551)) (Num_ 1)).
Definition e785 := (Equal (Bits 7 1 (U 30)) (Num_ 1)).
Definition e786 := (Negation e784).
Definition e787 := (Equal e777 (Num_ 0)).
Definition e788 := (Equal e772 (Num_ 0)).
Definition e789 := (If e788 (Num_ (-14)) (Minus e772 (Num_ 15))).
Definition e790 := (Plus (Minus (If e787 (Num_ (-6)) (Minus e777 (Num_ 7))) e789) (Num_ 7)).
Definition e791 := (If e788 e774 (Plus e774 (Num_ 1024))).
Definition e792 := (If e787 e778 (Plus e778 (Num_ 8))).
Definition e793 := (Equal e792 (Num_ 0)).
Definition e794 := (Equal e789 (Num_ (-14))).
Definition e795 := (Bits 10 5 (U 3151)).
Definition e796 := (Equal e795 (Num_ 31)).
Definition e797 := (Bits 0 10 (U 3151)).
Definition e798 := (Equal e797 (Num_ 0)).
Definition e799 := (Both e796 (Negation e798)).
Definition e800 := (Bits 3 4 (U 31)).
Definition e801 := (Bits 0 3 (U 31)).
Definition e802 := (Both (Equal e800 (Num_ 15)) (Equal e801 (Num_ 7))).
Definition e803 := (Negation e799).
Definition e804 := (Negation e802).
Definition e805 := (Both e796 e798).
Definition e806 := (Negation e805).
Definition e807 := (Equal (Bits 15 1 (U 3151)) (Num_ 1)).
Definition e808 := (Equal (Bits 7 1 (U 31)) (Num_ 1)).
Definition e809 := (Negation e807).
Definition e810 := (Equal e800 (Num_ 0)).
Definition e811 := (Equal e795 (Num_ 0)).
Definition e812 := (If e811 (Num_ (-14)) (Minus e795 (Num_ 15))).
Definition e813 := (Plus (Minus (If e810 (Num_ (-6)) (Minus e800 (Num_ 7))) e812) (Num_ 7)).
Definition e814 := (If e811 e797 (Plus e797 (Num_ 1024))).
Definition e815 := (If e810 e801 (Plus e801 (Num_ 8))).
Definition e816 := (Equal e815 (Num_ 0)).
Definition e817 := (Equal e812 (Num_ (-14))).
Definition e818 := (Either (Either e776 e799) (Either (Both e782 (Both (Negation (Either e799 e805)) (Equal e814 (Num_ 0)))) (Both (Both (Negation (Either e776 e782)) (Equal e791 (Num_ 0))) e805))).
Definition e819 := (Negation (Is 4212)).
Definition e820 := (Negation e818).
Definition e821 := (Either e782 e805).
Definition e822 := (Negation (Is 4215)).
Definition e823 := (Negation e821).
Definition e824 := (Negation (Either (Both e784 e807) (Both e786 e809))).
Definition e825 := (Negation (Is 4202)).
Definition e826 := (Plus (U 4206) (Num_ (-30))).
Definition e827 := (Bits 10 5 (U 1651)).
Definition e828 := (Equal e827 (Num_ 31)).
Definition e829 := (Bits 0 10 (U 1651)).
Definition e830 := (Equal e829 (Num_ 0)).
Definition e831 := (Both e828 (Negation e830)).
Definition e832 := (Bits 3 4 (U 32)).
Definition e833 := (Bits 0 3 (U 32)).
Definition e834 := (Both (Equal e832 (Num_ 15)) (Equal e833 (Num_ 7))).
Definition e835 := (Negation e831).
Definition e836 := (Negation e834).
Definition e837 := (Both e828 e830).
Definition e838 := (Negation e837).
Definition e839 := (Equal (Bits 15 1 (U 1651)) (Num_ 1)).
Definition e840 := (Equal (Bits 7 1 (U 32)) (Num_ 1)).
Definition e841 := (Negation e839).
Definition e842 := (Equal e832 (Num_ 0)).
Definition e843 := (Equal e827 (Num_ 0)).
Definition e844 := (If e843 (Num_ (-14)) (Minus e827 (Num_ 15))).
Definition e845 := (Plus (Minus (If e842 (Num_ (-6)) (Minus e832 (Num_ 7))) e844) (Num_ 7)).
Definition e846 := (If e843 e829 (Plus e829 (Num_ 1024))).
Definition e847 := (If e842 e833 (Plus e833 (Num_ 8))).
Definition e848 := (Equal e847 (Num_ 0)).
Definition e849 := (Equal e844 (Num_ (-14))).
Definition e850 := (Bits 10 5 (U 3251)).
Definition e851 := (Equal e850 (Num_ 31)).
Definition e852 := (Bits 0 10 (U 3251)).
Definition e853 := (Equal e852 (Num_ 0)).
Definition e854 := (Both e851 (Negation e853)).
Definition e855 := (Bits 3 4 (U 33)).
Definition e856 := (Bits 0 3 (U 33)).
Definition e857 := (Both (Equal e855 (Num_ 15)) (Equal e856 (Num_ 7))).
Definition e858 := (Negation e854).
Definition e859 := (Negation e857).
Definition e860 := (Both e851 e853).
Definition e861 := (Negation e860).
Definition e862 := (Equal (Bits 15 1 (U 3251)) (Num_ 1)).
Definition e863 := (Equal (Bits 7 1 (U 33)) (Num_ 1)).
Definition e864 := (Negation e862).
Definition e865 := (Equal e855 (Num_ 0)).
Definition e866 := (Equal e850 (Num_ 0)).
Definition e867 := (If e866 (Num_ (-14)) (Minus e850 (Num_ 15))).
Definition e868 := (Plus (Minus (If e865 (Num_ (-6)) (Minus e855 (Num_ 7))) e867) (Num_ 7)).
Definition e869 := (If e866 e852 (Plus e852 (Num_ 1024))).
Definition e870 := (If e865 e856 (Plus e856 (Num_ 8))).
Definition e871 := (Equal e870 (Num_ 0)).
Definition e872 := (Equal e867 (Num_ (-14))).
Definition e873 := (Either (Either e831 e854) (Either (Both e837 (Both (Negation (Either e854 e860)) (Equal e869 (Num_ 0)))) (Both (Both (Negation (Either e831 e837)) (Equal e846 (Num_ 0))) e860))).
Definition e874 := (Negation (Is 4256)).
Definition e875 := (Negation e873).
Definition e876 := (Either e837 e860).
Definition e877 := (Negation (Is 4259)).
Definition e878 := (Negation e876).
Definition e879 := (Negation (Either (Both e839 e862) (Both e841 e864))).
Definition e880 := (Negation (Is 4246)).
Definition e881 := (Plus (U 4250) (Num_ (-30))).
Definition e882 := (Bits 10 5 (U 34)).
Definition e883 := (Equal e882 (Num_ 31)).
Definition e884 := (Bits 0 10 (U 34)).
Definition e885 := (Equal e884 (Num_ 0)).
Definition e886 := (Both e883 (Negation e885)).
Definition e887 := (Negation e886).
Definition e888 := (Both e883 e885).
Definition e889 := (Negation e888).
Definition e890 := (Equal e882 (Num_ 0)).
Definition e891 := (Negation (Is 4573)).
Definition e892 := (Negation (Is 4571)).
Definition e893 := (Equal (Bits 15 1 (U 34)) (Num_ 1)).
Definition e894 := (Negation (Is 4562)).
Definition e895 := (Plus (U 4575) (Num_ (-15))).
Definition e896 := (Both e49 e52).
Definition e897 := (AtMost (U 3292) (Num_ 62)).
Definition e898 := (Equal (U 3289) (Num_ 0)).
Definition e899 := (Negation (Is 3293)).
Definition e900 := (Both e104 e107).
Definition e901 := (AtMost (U 3336) (Num_ 62)).
Definition e902 := (Equal (U 3333) (Num_ 0)).
Definition e903 := (Negation (Is 3337)).
Definition e904 := (Both e269 e272).
Definition e905 := (AtMost (U 3380) (Num_ 62)).
Definition e906 := (Equal (U 3377) (Num_ 0)).
Definition e907 := (Negation (Is 3381)).
Definition e908 := (Both e324 e327).
Definition e909 := (AtMost (U 3424) (Num_ 62)).
Definition e910 := (Equal (U 3421) (Num_ 0)).
Definition e911 := (Negation (Is 3425)).
Definition e912 := (Both e489 e492).
Definition e913 := (AtMost (U 3468) (Num_ 62)).
Definition e914 := (Equal (U 3465) (Num_ 0)).
Definition e915 := (Negation (Is 3469)).
Definition e916 := (Both e544 e547).
Definition e917 := (AtMost (U 3512) (Num_ 62)).
Definition e918 := (Equal (U 3509) (Num_ 0)).
Definition e919 := (Negation (Is 3513)).
Definition e920 := (Both e709 e712).
Definition e921 := (AtMost (U 3556) (Num_ 62)).
Definition e922 := (Equal (U 3553) (Num_ 0)).
Definition e923 := (Negation (Is 3557)).
Definition e924 := (Both e764 e767).
Definition e925 := (AtMost (U 3600) (Num_ 62)).
Definition e926 := (Equal (U 3597) (Num_ 0)).
Definition e927 := (Negation (Is 3601)).
Definition e928 := (Negation (Is 49)).
Definition e929 := (Both e928 e928).
Definition e930 := (AtMost (U 3256) (Num_ 31)).
Definition e931 := (Equal (U 128) (Num_ 0)).
Definition e932 := (Negation (Is 3253)).
Definition e933 := (If (Is 3293) (Num_ (-21)) e56).
Definition e934 := (Plus (U 3638) (Num_ (-21))).
Definition e935 := (Low (U 3640) (Num_ 27)).
Definition e936 := (Times (U 3289) (Num_ 32)).
Definition e937 := (Num_ 134217697).
Definition e938 := (If (Is 3337) (Num_ (-21)) e111).
Definition e939 := (Low (U 3643) (Num_ 27)).
Definition e940 := (Times (U 3333) (Num_ 32)).
Definition e941 := (If (Is 3381) (Num_ (-21)) e276).
Definition e942 := (Low (U 3646) (Num_ 27)).
Definition e943 := (Times (U 3377) (Num_ 32)).
Definition e944 := (If (Is 3425) (Num_ (-21)) e331).
Definition e945 := (Low (U 3649) (Num_ 27)).
Definition e946 := (Times (U 3421) (Num_ 32)).
Definition e947 := (If (Is 3469) (Num_ (-21)) e496).
Definition e948 := (Low (U 3652) (Num_ 27)).
Definition e949 := (Times (U 3465) (Num_ 32)).
Definition e950 := (If (Is 3513) (Num_ (-21)) e551).
Definition e951 := (Low (U 3655) (Num_ 27)).
Definition e952 := (Times (U 3509) (Num_ 32)).
Definition e953 := (If (Is 3557) (Num_ (-21)) e716).
Definition e954 := (Low (U 3658) (Num_ 27)).
Definition e955 := (Times (U 3553) (Num_ 32)).
Definition e956 := (If (Is 3601) (Num_ (-21)) e771).
Definition e957 := (Low (U 3661) (Num_ 27)).
Definition e958 := (Times (U 3597) (Num_ 32)).
Definition e959 := (Plus (U 3256) (Num_ (-15))).
Definition e960 := (If (Is 3253) (Num_ (-21)) e959).
Definition e961 := (Low (U 3638) (Num_ 26)).
Definition e962 := (Times (U 128) (Num_ 32768)).
Definition e963 := (Num_ 67076097).
Definition e964 := (Both e11 (Both e11 (Both e11 (Both e11 (Both e11 (Both e11 (Both e11 (Both e11 (Both e11 e10))))))))).
Definition e965 := (AtMost (U 3638) (Num_ 53)).
Definition e966 := (Num_ (-1140817673)).
Definition e967 := (Num_ 1140817673).
Definition e968 := (Num_ (-1073741576)).
Definition e969 := (Num_ 1073741576).
Definition e970 := (Num_ (-67076097)).
Definition e971 := (Num_ (-536870788)).
Definition e972 := (Num_ 536870788).
Definition e973 := (Num_ (-268435394)).
Definition e974 := (Num_ 268435394).
Definition e975 := (Num_ (-134217697)).
Definition e976 := (Equal (Sg 3710) (Num_ 0)).
Definition e977 := (Both (AtMost e966 (Sg 3710)) (AtMost (Sg 3710) e967)).
Definition e978 := (Negation (Is 3810)).
Definition e979 := (Both (Equal (U 3802) (Num_ 0)) e978).
Definition e980 := (Negation e976).
Definition e981 := (Either (AtMost (Num_ 1024) (U 3802)) (Equal (U 3801) (Num_ 0))).
Definition e982 := (Plus (U 3801) (Num_ (-24))).
Definition e983 := (Plus (U 3638) (Num_ (-46))).
Definition e984 := (Abs (Sg 3710)).
Definition e985 := (Less e983 e982).
Definition e986 := (Low (Minus e982 e983) (Num_ 33)).
Definition e987 := (Shift (U 3802) e986).
Definition e988 := (Shift (Num_ 1) e986).
Definition e989 := (Minus e984 e987).
Definition e990 := (Plus e989 e989).
Definition e991 := (Either (Less e988 e990) (Both (Equal e988 e990) (Equal (Bits 0 1 (U 3802)) (Num_ 1)))).
Definition e992 := (Either (Both (Is 3301) e55) (Either (Both (Is 3345) e110) (Either (Both (Is 3389) e275) (Either (Both (Is 3433) e330) (Either (Both (Is 3477) e495) (Either (Both (Is 3521) e550) (Either (Both (Is 3565) e715) (Either (Both (Is 3609) e770) (Either (Both (Is 49) e928) e11))))))))).
Definition e993 := (Either (Both (Is 3301) (Is 3288)) (Either (Both (Is 3345) (Is 3332)) (Either (Both (Is 3389) (Is 3376)) (Either (Both (Is 3433) (Is 3420)) (Either (Both (Is 3477) (Is 3464)) (Either (Both (Is 3521) (Is 3508)) (Either (Both (Is 3565) (Is 3552)) (Either (Both (Is 3609) (Is 3596)) (Either (Both (Is 49) (Is 49)) e11))))))))).
Definition e994 := (Either (Either (Is 3298) (Either (Is 3342) (Either (Is 3386) (Either (Is 3430) (Either (Is 3474) (Either (Is 3518) (Either (Is 3562) (Either (Is 3606) (Either (Is 49) e11))))))))) (Both e992 e993)).
Definition e995 := (Negation (Is 3874)).
Definition e996 := (Negation e994).
Definition e997 := (Either e992 e993).
Definition e998 := (Negation (Is 3880)).
Definition e999 := (Negation e997).
Definition e1000 := (Either e980 e979).
Definition e1001 := (Either e976 e981).
Definition e1002 := (Plus (U 3802) (If (Is 3810) (Num_ 1) (Num_ 0))).
Definition e1003 := (Either (Equal e1002 (Num_ 0)) e11).
Definition e1004 := (Negation e1003).
Definition e1005 := (AtMost (Num_ 2048) e1002).
Definition e1006 := (Plus (U 3801) (If e1005 (Num_ 1) (Num_ 0))).
Definition e1007 := (Both (AtMost (Num_ 1024) e1002) (Less (Num_ 29) e1006)).
Definition e1008 := (Both e1004 (Both e1007 e10)).
Definition e1009 := (Negation (Is 3878)).
Definition e1010 := (Negation e1008).
Definition e1011 := (Either (Both e1003 e11) (Both e1004 (Less (Sg 3710) (Num_ 0)))).
Definition e1012 := (Plus (U 3827) (Num_ (-14))).
Definition e1013 := (Negation (Is 3905)).
Definition e1014 := (Negation (Is 3903)).
Definition e1015 := (Negation (Is 3894)).
Definition e1016 := (Plus (U 3907) (Num_ (-15))).
Definition e1017 := (Both e159 e162).
Definition e1018 := (AtMost (U 3942) (Num_ 62)).
Definition e1019 := (Equal (U 3939) (Num_ 0)).
Definition e1020 := (Negation (Is 3943)).
Definition e1021 := (Both e214 e217).
Definition e1022 := (AtMost (U 3986) (Num_ 62)).
Definition e1023 := (Equal (U 3983) (Num_ 0)).
Definition e1024 := (Negation (Is 3987)).
Definition e1025 := (Both e379 e382).
Definition e1026 := (AtMost (U 4030) (Num_ 62)).
Definition e1027 := (Equal (U 4027) (Num_ 0)).
Definition e1028 := (Negation (Is 4031)).
Definition e1029 := (Both e434 e437).
Definition e1030 := (AtMost (U 4074) (Num_ 62)).
Definition e1031 := (Equal (U 4071) (Num_ 0)).
Definition e1032 := (Negation (Is 4075)).
Definition e1033 := (Both e599 e602).
Definition e1034 := (AtMost (U 4118) (Num_ 62)).
Definition e1035 := (Equal (U 4115) (Num_ 0)).
Definition e1036 := (Negation (Is 4119)).
Definition e1037 := (Both e654 e657).
Definition e1038 := (AtMost (U 4162) (Num_ 62)).
Definition e1039 := (Equal (U 4159) (Num_ 0)).
Definition e1040 := (Negation (Is 4163)).
Definition e1041 := (Both e819 e822).
Definition e1042 := (AtMost (U 4206) (Num_ 62)).
Definition e1043 := (Equal (U 4203) (Num_ 0)).
Definition e1044 := (Negation (Is 4207)).
Definition e1045 := (Both e874 e877).
Definition e1046 := (AtMost (U 4250) (Num_ 62)).
Definition e1047 := (Equal (U 4247) (Num_ 0)).
Definition e1048 := (Negation (Is 4251)).
Definition e1049 := (Both e1013 e1014).
Definition e1050 := (AtMost (U 3907) (Num_ 31)).
Definition e1051 := (Equal (U 3898) (Num_ 0)).
Definition e1052 := (Negation (Is 3901)).
Definition e1053 := (If (Is 3943) (Num_ (-21)) e166).
Definition e1054 := (Plus (U 4288) (Num_ (-21))).
Definition e1055 := (Low (U 4290) (Num_ 27)).
Definition e1056 := (Times (U 3939) (Num_ 32)).
Definition e1057 := (If (Is 3987) (Num_ (-21)) e221).
Definition e1058 := (Low (U 4293) (Num_ 27)).
Definition e1059 := (Times (U 3983) (Num_ 32)).
Definition e1060 := (If (Is 4031) (Num_ (-21)) e386).
Definition e1061 := (Low (U 4296) (Num_ 27)).
Definition e1062 := (Times (U 4027) (Num_ 32)).
Definition e1063 := (If (Is 4075) (Num_ (-21)) e441).
Definition e1064 := (Low (U 4299) (Num_ 27)).
Definition e1065 := (Times (U 4071) (Num_ 32)).
Definition e1066 := (If (Is 4119) (Num_ (-21)) e606).
Definition e1067 := (Low (U 4302) (Num_ 27)).
Definition e1068 := (Times (U 4115) (Num_ 32)).
Definition e1069 := (If (Is 4163) (Num_ (-21)) e661).
Definition e1070 := (Low (U 4305) (Num_ 27)).
Definition e1071 := (Times (U 4159) (Num_ 32)).
Definition e1072 := (If (Is 4207) (Num_ (-21)) e826).
Definition e1073 := (Low (U 4308) (Num_ 27)).
Definition e1074 := (Times (U 4203) (Num_ 32)).
Definition e1075 := (If (Is 4251) (Num_ (-21)) e881).
Definition e1076 := (Low (U 4311) (Num_ 27)).
Definition e1077 := (Times (U 4247) (Num_ 32)).
Definition e1078 := (If (Is 3901) (Num_ (-21)) e1016).
Definition e1079 := (Low (U 4314) (Num_ 26)).
Definition e1080 := (Times (U 3898) (Num_ 32768)).
Definition e1081 := (AtMost (U 4288) (Num_ 53)).
Definition e1082 := (Equal (Sg 4361) (Num_ 0)).
Definition e1083 := (Both (AtMost e966 (Sg 4361)) (AtMost (Sg 4361) e967)).
Definition e1084 := (Negation (Is 4459)).
Definition e1085 := (Both (Equal (U 4452) (Num_ 0)) e1084).
Definition e1086 := (Negation e1082).
Definition e1087 := (Either (AtMost (Num_ 1024) (U 4452)) (Equal (U 4451) (Num_ 0))).
Definition e1088 := (Plus (U 4451) (Num_ (-24))).
Definition e1089 := (Plus (U 4288) (Num_ (-46))).
Definition e1090 := (Abs (Sg 4361)).
Definition e1091 := (Less e1089 e1088).
Definition e1092 := (Low (Minus e1088 e1089) (Num_ 33)).
Definition e1093 := (Shift (U 4452) e1092).
Definition e1094 := (Shift (Num_ 1) e1092).
Definition e1095 := (Minus e1090 e1093).
Definition e1096 := (Plus e1095 e1095).
Definition e1097 := (Either (Less e1094 e1096) (Both (Equal e1094 e1096) (Equal (Bits 0 1 (U 4452)) (Num_ 1)))).
Definition e1098 := (Either (Both (Is 3951) e165) (Either (Both (Is 3995) e220) (Either (Both (Is 4039) e385) (Either (Both (Is 4083) e440) (Either (Both (Is 4127) e605) (Either (Both (Is 4171) e660) (Either (Both (Is 4215) e825) (Either (Both (Is 4259) e880) (Either (Both (Is 3903) e1015) e11))))))))).
Definition e1099 := (Either (Both (Is 3951) (Is 3938)) (Either (Both (Is 3995) (Is 3982)) (Either (Both (Is 4039) (Is 4026)) (Either (Both (Is 4083) (Is 4070)) (Either (Both (Is 4127) (Is 4114)) (Either (Both (Is 4171) (Is 4158)) (Either (Both (Is 4215) (Is 4202)) (Either (Both (Is 4259) (Is 4246)) (Either (Both (Is 3903) (Is 3894)) e11))))))))).
Definition e1100 := (Either (Either (Is 3948) (Either (Is 3992) (Either (Is 4036) (Either (Is 4080) (Either (Is 4124) (Either (Is 4168) (Either (Is 4212) (Either (Is 4256) (Either (Is 3905) e11))))))))) (Both e1098 e1099)).
Definition e1101 := (Negation (Is 4527)).
Definition e1102 := (Negation e1100).
Definition e1103 := (Either e1098 e1099).
Definition e1104 := (Negation (Is 4533)).
Definition e1105 := (Negation e1103).
Definition e1106 := (Either e1086 e1085).
Definition e1107 := (Either e1082 e1087).
Definition e1108 := (Plus (U 4452) (If (Is 4459) (Num_ 1) (Num_ 0))).
Definition e1109 := (Either (Equal e1108 (Num_ 0)) e11).
Definition e1110 := (Negation e1109).
Definition e1111 := (AtMost (Num_ 2048) e1108).
Definition e1112 := (Plus (U 4451) (If e1111 (Num_ 1) (Num_ 0))).
Definition e1113 := (Both (AtMost (Num_ 1024) e1108) (Less (Num_ 29) e1112)).
Definition e1114 := (Both e1110 (Both e1113 e10)).
Definition e1115 := (Negation (Is 4531)).
Definition e1116 := (Negation e1114).
Definition e1117 := (Either (Both e1109 e11) (Both e1110 (Less (Sg 4361) (Num_ 0)))).
Definition e1118 := (Plus (U 4474) (Num_ (-14))).
Definition e1119 := (Either (Both (Is 49) e11) (Both e928 e13)).
Definition e1120 := (Negation (Is 4558)).
Definition e1121 := (Negation (Is 4556)).
Definition e1122 := (Negation (Is 4547)).
Definition e1123 := (Plus (U 4560) (Num_ (-15))).
Definition e1124 := (Both e1120 e1121).
Definition e1125 := (AtMost (U 4560) (Num_ 31)).
Definition e1126 := (Equal (U 4551) (Num_ 0)).
Definition e1127 := (Negation (Is 4554)).
Definition e1128 := (Negation e1126).
Definition e1129 := (Either (Both (Is 4554) e1126) (Both e1127 e1128)).
Definition e1130 := (Equal (U 4595) (Num_ 0)).
Definition e1131 := (Negation e1130).
Definition e1132 := (Plus (U 4604) (Num_ (-30))).
Definition e1133 := (Plus (Minus e1123 e1132) (Num_ 0)).
Definition e1134 := (Both e891 e892).
Definition e1135 := (AtMost (U 4575) (Num_ 31)).
Definition e1136 := (Equal (U 4566) (Num_ 0)).
Definition e1137 := (Negation (Is 4569)).
Definition e1138 := (Negation e1136).
Definition e1139 := (Either (Both (Is 4569) e1136) (Both e1137 e1138)).
Definition e1140 := (Equal (U 4624) (Num_ 0)).
Definition e1141 := (Negation e1140).
Definition e1142 := (Plus (U 4632) (Num_ (-30))).
Definition e1143 := (Plus (Minus e895 e1142) (Num_ 0)).
Definition e1144 := (AtMost (U 4604) (Num_ 46)).
Definition e1145 := (AtMost (U 4632) (Num_ 46)).
Definition e1146 := (Plus (U 4636) (Num_ (-30))).
Definition e1147 := (Low (U 4637) (Num_ 14)).
Definition e1148 := (Times (U 4595) (Num_ 8)).
Definition e1149 := (Low (U 4645) (Num_ 14)).
Definition e1150 := (Times (U 4624) (Num_ 8)).
Definition e1151 := (AtMost (U 4636) (Num_ 46)).
Definition e1152 := (Num_ (-32754)).
Definition e1153 := (Num_ (-16377)).
Definition e1154 := (Equal (Sg 4662) (Num_ 0)).
Definition e1155 := (Both (AtMost e1152 (Sg 4662)) (AtMost (Sg 4662) (Num_ 32754))).
Definition e1156 := (Negation (Is 4748)).
Definition e1157 := (Both (Equal (U 4741) (Num_ 0)) e1156).
Definition e1158 := (Negation e1154).
Definition e1159 := (Either (AtMost (Num_ 1024) (U 4741)) (Equal (U 4740) (Num_ 0))).
Definition e1160 := (Plus (U 4740) (Num_ (-24))).
Definition e1161 := (Plus (U 4636) (Num_ (-43))).
Definition e1162 := (Abs (Sg 4662)).
Definition e1163 := (Less e1161 e1160).
Definition e1164 := (Low (Minus e1160 e1161) (Num_ 17)).
Definition e1165 := (Shift (U 4741) e1164).
Definition e1166 := (Shift (Num_ 1) e1164).
Definition e1167 := (Minus e1162 e1165).
Definition e1168 := (Plus e1167 e1167).
Definition e1169 := (Either (Less e1166 e1168) (Both (Equal e1166 e1168) (Equal (Bits 0 1 (U 4741)) (Num_ 1)))).
Definition e1170 := (Either (Both (Is 4556) e1122) (Either (Both (Is 4571) e894) e11)).
Definition e1171 := (Either (Both (Is 4556) (Is 4547)) (Either (Both (Is 4571) (Is 4562)) e11)).
Definition e1172 := (Either (Either (Is 4558) (Either (Is 4573) e11)) (Both e1170 e1171)).
Definition e1173 := (Negation (Is 4774)).
Definition e1174 := (Negation e1172).
Definition e1175 := (Either e1170 e1171).
Definition e1176 := (Negation (Is 4779)).
Definition e1177 := (Negation e1175).
Definition e1178 := (Either e1158 e1157).
Definition e1179 := (Either e1154 e1159).
Definition e1180 := (Plus (U 4741) (If (Is 4748) (Num_ 1) (Num_ 0))).
Definition e1181 := (Either (Equal e1180 (Num_ 0)) e11).
Definition e1182 := (Negation e1181).
Definition e1183 := (AtMost (Num_ 2048) e1180).
Definition e1184 := (Plus (U 4740) (If e1183 (Num_ 1) (Num_ 0))).
Definition e1185 := (Both (AtMost (Num_ 1024) e1180) (Less (Num_ 29) e1184)).
Definition e1186 := (Both e1182 (Both e1185 e10)).
Definition e1187 := (Negation (Is 4778)).
Definition e1188 := (Negation e1186).
Definition e1189 := (Less (Sg 4662) (Num_ 0)).
Definition e1190 := (Both (Both (Equal (U 4644) (Num_ 0)) (Both (Equal (U 4652) (Num_ 0)) e10)) (Either (Both (Is 4547) (Both (Is 4562) e10)) (Both e1122 (Both e894 e10)))).
Definition e1191 := (Either (Both e1181 (Either (Both e1158 e1189) (Both e1154 (Either (Both e1190 (Either (Is 4547) (Either (Is 4562) e11))) (Both (Negation e1190) e11))))) (Both e1182 e1189)).
Definition e1192 := (Plus (U 4763) (Num_ (-14))).
Definition e1193 := (If (Is 4779) (Num_ 32768) (Num_ 0)).
Definition e1194 := (Times (U 4754) (Num_ 1)).
Definition certified : list claim := [
  Claim [] (Either (Both e4 e7) (Both e8 e9));
  Claim [e9] (Either (Both (Both e1 e3) e11) (Both e12 e13));
  Claim [e9] (Either (Both e14 e15) (Both e16 (Negation e15)));
  Claim [e9; e13] (Both (AtMost (Num_ 0) e20) (AtMost e20 (Num_ 10)));
  Claim [e9; e13] (Equal e21 (Shift e22 (Low e20 (Num_ 10))));
  Claim [e9; e13] (Both (AtMost (Num_ (-14)) e19) (Less e21 (Num_ 2048)));
  Claim [e23; e9; e13] e24;
  Claim [(Negation e23); e9; e13] (Either (AtMost (Num_ 1024) e21) e24);
  Claim [] (Either (Both e29 e32) (Both e33 e34));
  Claim [e34] (Either (Both e35 e11) (Both e36 e13));
  Claim [e34] (Either (Both e37 e38) (Both e39 (Negation e38)));
  Claim [e34; e13] (Both (AtMost (Num_ 0) e43) (AtMost e43 (Num_ 10)));
  Claim [e34; e13] (Equal e44 (Shift e45 (Low e43 (Num_ 10))));
  Claim [e34; e13] (Both (AtMost (Num_ (-14)) e42) (Less e44 (Num_ 2048)));
  Claim [e46; e34; e13] e47;
  Claim [(Negation e46); e34; e13] (Either (AtMost (Num_ 1024) e44) e47);
  Claim [e8; e12] (Equal (U 3263) e21);
  Claim [e33; e36] (Equal (U 3278) e44);
  Claim [] (Either (Both (Is 3298) e48) (Both e49 e50));
  Claim [e50] (Either (Both (Is 3301) e51) (Both e52 e53));
  Claim [e50] (Either (Both (Is 3288) e54) (Both e55 (Negation e54)));
  Claim [e50; e53] (Equal e56 (Plus e19 e42));
  Claim [] (Equal (U 3289) (Times (U 3263) (U 3278)));
  Claim [] (Either (Both e61 e64) (Both e65 e66));
  Claim [e66] (Either (Both e67 e11) (Both e68 e13));
  Claim [e66] (Either (Both e69 e70) (Both e71 (Negation e70)));
  Claim [e66; e13] (Both (AtMost (Num_ 0) e75) (AtMost e75 (Num_ 10)));
  Claim [e66; e13] (Equal e76 (Shift e77 (Low e75 (Num_ 10))));
  Claim [e66; e13] (Both (AtMost (Num_ (-14)) e74) (Less e76 (Num_ 2048)));
  Claim [e78; e66; e13] e79;
  Claim [(Negation e78); e66; e13] (Either (AtMost (Num_ 1024) e76) e79);
  Claim [] (Either (Both e84 e87) (Both e88 e89));
  Claim [e89] (Either (Both e90 e11) (Both e91 e13));
  Claim [e89] (Either (Both e92 e93) (Both e94 (Negation e93)));
  Claim [e89; e13] (Both (AtMost (Num_ 0) e98) (AtMost e98 (Num_ 10)));
  Claim [e89; e13] (Equal e99 (Shift e100 (Low e98 (Num_ 10))));
  Claim [e89; e13] (Both (AtMost (Num_ (-14)) e97) (Less e99 (Num_ 2048)));
  Claim [e101; e89; e13] e102;
  Claim [(Negation e101); e89; e13] (Either (AtMost (Num_ 1024) e99) e102);
  Claim [e65; e68] (Equal (U 3307) e76);
  Claim [e88; e91] (Equal (U 3322) e99);
  Claim [] (Either (Both (Is 3342) e103) (Both e104 e105));
  Claim [e105] (Either (Both (Is 3345) e106) (Both e107 e108));
  Claim [e105] (Either (Both (Is 3332) e109) (Both e110 (Negation e109)));
  Claim [e105; e108] (Equal e111 (Plus e74 e97));
  Claim [] (Equal (U 3333) (Times (U 3307) (U 3322)));
  Claim [] (Either (Both e116 e119) (Both e120 e121));
  Claim [e121] (Either (Both e122 e11) (Both e123 e13));
  Claim [e121] (Either (Both e124 e125) (Both e126 (Negation e125)));
  Claim [e121; e13] (Both (AtMost (Num_ 0) e130) (AtMost e130 (Num_ 10)));
  Claim [e121; e13] (Equal e131 (Shift e132 (Low e130 (Num_ 10))));
  Claim [e121; e13] (Both (AtMost (Num_ (-14)) e129) (Less e131 (Num_ 2048)));
  Claim [e133; e121; e13] e134;
  Claim [(Negation e133); e121; e13] (Either (AtMost (Num_ 1024) e131) e134);
  Claim [] (Either (Both e139 e142) (Both e143 e144));
  Claim [e144] (Either (Both e145 e11) (Both e146 e13));
  Claim [e144] (Either (Both e147 e148) (Both e149 (Negation e148)));
  Claim [e144; e13] (Both (AtMost (Num_ 0) e153) (AtMost e153 (Num_ 10)));
  Claim [e144; e13] (Equal e154 (Shift e155 (Low e153 (Num_ 10))));
  Claim [e144; e13] (Both (AtMost (Num_ (-14)) e152) (Less e154 (Num_ 2048)));
  Claim [e156; e144; e13] e157;
  Claim [(Negation e156); e144; e13] (Either (AtMost (Num_ 1024) e154) e157);
  Claim [e120; e123] (Equal (U 3913) e131);
  Claim [e143; e146] (Equal (U 3928) e154);
  Claim [] (Either (Both (Is 3948) e158) (Both e159 e160));
  Claim [e160] (Either (Both (Is 3951) e161) (Both e162 e163));
  Claim [e160] (Either (Both (Is 3938) e164) (Both e165 (Negation e164)));
  Claim [e160; e163] (Equal e166 (Plus e129 e152));
  Claim [] (Equal (U 3939) (Times (U 3913) (U 3928)));
  Claim [] (Either (Both e171 e174) (Both e175 e176));
  Claim [e176] (Either (Both e177 e11) (Both e178 e13));
  Claim [e176] (Either (Both e179 e180) (Both e181 (Negation e180)));
  Claim [e176; e13] (Both (AtMost (Num_ 0) e185) (AtMost e185 (Num_ 10)));
  Claim [e176; e13] (Equal e186 (Shift e187 (Low e185 (Num_ 10))));
  Claim [e176; e13] (Both (AtMost (Num_ (-14)) e184) (Less e186 (Num_ 2048)));
  Claim [e188; e176; e13] e189;
  Claim [(Negation e188); e176; e13] (Either (AtMost (Num_ 1024) e186) e189);
  Claim [] (Either (Both e194 e197) (Both e198 e199));
  Claim [e199] (Either (Both e200 e11) (Both e201 e13));
  Claim [e199] (Either (Both e202 e203) (Both e204 (Negation e203)));
  Claim [e199; e13] (Both (AtMost (Num_ 0) e208) (AtMost e208 (Num_ 10)));
  Claim [e199; e13] (Equal e209 (Shift e210 (Low e208 (Num_ 10))));
  Claim [e199; e13] (Both (AtMost (Num_ (-14)) e207) (Less e209 (Num_ 2048)));
  Claim [e211; e199; e13] e212;
  Claim [(Negation e211); e199; e13] (Either (AtMost (Num_ 1024) e209) e212);
  Claim [e175; e178] (Equal (U 3957) e186);
  Claim [e198; e201] (Equal (U 3972) e209);
  Claim [] (Either (Both (Is 3992) e213) (Both e214 e215));
  Claim [e215] (Either (Both (Is 3995) e216) (Both e217 e218));
  Claim [e215] (Either (Both (Is 3982) e219) (Both e220 (Negation e219)));
  Claim [e215; e218] (Equal e221 (Plus e184 e207));
  Claim [] (Equal (U 3983) (Times (U 3957) (U 3972)));
  Claim [] (Either (Both e226 e229) (Both e230 e231));
  Claim [e231] (Either (Both e232 e11) (Both e233 e13));
  Claim [e231] (Either (Both e234 e235) (Both e236 (Negation e235)));
  Claim [e231; e13] (Both (AtMost (Num_ 0) e240) (AtMost e240 (Num_ 10)));
  Claim [e231; e13] (Equal e241 (Shift e242 (Low e240 (Num_ 10))));
  Claim [e231; e13] (Both (AtMost (Num_ (-14)) e239) (Less e241 (Num_ 2048)));
  Claim [e243; e231; e13] e244;
  Claim [(Negation e243); e231; e13] (Either (AtMost (Num_ 1024) e241) e244);
  Claim [] (Either (Both e249 e252) (Both e253 e254));
  Claim [e254] (Either (Both e255 e11) (Both e256 e13));
  Claim [e254] (Either (Both e257 e258) (Both e259 (Negation e258)));
  Claim [e254; e13] (Both (AtMost (Num_ 0) e263) (AtMost e263 (Num_ 10)));
  Claim [e254; e13] (Equal e264 (Shift e265 (Low e263 (Num_ 10))));
  Claim [e254; e13] (Both (AtMost (Num_ (-14)) e262) (Less e264 (Num_ 2048)));
  Claim [e266; e254; e13] e267;
  Claim [(Negation e266); e254; e13] (Either (AtMost (Num_ 1024) e264) e267);
  Claim [e230; e233] (Equal (U 3351) e241);
  Claim [e253; e256] (Equal (U 3366) e264);
  Claim [] (Either (Both (Is 3386) e268) (Both e269 e270));
  Claim [e270] (Either (Both (Is 3389) e271) (Both e272 e273));
  Claim [e270] (Either (Both (Is 3376) e274) (Both e275 (Negation e274)));
  Claim [e270; e273] (Equal e276 (Plus e239 e262));
  Claim [] (Equal (U 3377) (Times (U 3351) (U 3366)));
  Claim [] (Either (Both e281 e284) (Both e285 e286));
  Claim [e286] (Either (Both e287 e11) (Both e288 e13));
  Claim [e286] (Either (Both e289 e290) (Both e291 (Negation e290)));
  Claim [e286; e13] (Both (AtMost (Num_ 0) e295) (AtMost e295 (Num_ 10)));
  Claim [e286; e13] (Equal e296 (Shift e297 (Low e295 (Num_ 10))));
  Claim [e286; e13] (Both (AtMost (Num_ (-14)) e294) (Less e296 (Num_ 2048)));
  Claim [e298; e286; e13] e299;
  Claim [(Negation e298); e286; e13] (Either (AtMost (Num_ 1024) e296) e299);
  Claim [] (Either (Both e304 e307) (Both e308 e309));
  Claim [e309] (Either (Both e310 e11) (Both e311 e13));
  Claim [e309] (Either (Both e312 e313) (Both e314 (Negation e313)));
  Claim [e309; e13] (Both (AtMost (Num_ 0) e318) (AtMost e318 (Num_ 10)));
  Claim [e309; e13] (Equal e319 (Shift e320 (Low e318 (Num_ 10))));
  Claim [e309; e13] (Both (AtMost (Num_ (-14)) e317) (Less e319 (Num_ 2048)));
  Claim [e321; e309; e13] e322;
  Claim [(Negation e321); e309; e13] (Either (AtMost (Num_ 1024) e319) e322);
  Claim [e285; e288] (Equal (U 3395) e296);
  Claim [e308; e311] (Equal (U 3410) e319);
  Claim [] (Either (Both (Is 3430) e323) (Both e324 e325));
  Claim [e325] (Either (Both (Is 3433) e326) (Both e327 e328));
  Claim [e325] (Either (Both (Is 3420) e329) (Both e330 (Negation e329)));
  Claim [e325; e328] (Equal e331 (Plus e294 e317));
  Claim [] (Equal (U 3421) (Times (U 3395) (U 3410)));
  Claim [] (Either (Both e336 e339) (Both e340 e341));
  Claim [e341] (Either (Both e342 e11) (Both e343 e13));
  Claim [e341] (Either (Both e344 e345) (Both e346 (Negation e345)));
  Claim [e341; e13] (Both (AtMost (Num_ 0) e350) (AtMost e350 (Num_ 10)));
  Claim [e341; e13] (Equal e351 (Shift e352 (Low e350 (Num_ 10))));
  Claim [e341; e13] (Both (AtMost (Num_ (-14)) e349) (Less e351 (Num_ 2048)));
  Claim [e353; e341; e13] e354;
  Claim [(Negation e353); e341; e13] (Either (AtMost (Num_ 1024) e351) e354);
  Claim [] (Either (Both e359 e362) (Both e363 e364));
  Claim [e364] (Either (Both e365 e11) (Both e366 e13));
  Claim [e364] (Either (Both e367 e368) (Both e369 (Negation e368)));
  Claim [e364; e13] (Both (AtMost (Num_ 0) e373) (AtMost e373 (Num_ 10)));
  Claim [e364; e13] (Equal e374 (Shift e375 (Low e373 (Num_ 10))));
  Claim [e364; e13] (Both (AtMost (Num_ (-14)) e372) (Less e374 (Num_ 2048)));
  Claim [e376; e364; e13] e377;
  Claim [(Negation e376); e364; e13] (Either (AtMost (Num_ 1024) e374) e377);
  Claim [e340; e343] (Equal (U 4001) e351);
  Claim [e363; e366] (Equal (U 4016) e374);
  Claim [] (Either (Both (Is 4036) e378) (Both e379 e380));
  Claim [e380] (Either (Both (Is 4039) e381) (Both e382 e383));
  Claim [e380] (Either (Both (Is 4026) e384) (Both e385 (Negation e384)));
  Claim [e380; e383] (Equal e386 (Plus e349 e372));
  Claim [] (Equal (U 4027) (Times (U 4001) (U 4016)));
  Claim [] (Either (Both e391 e394) (Both e395 e396));
  Claim [e396] (Either (Both e397 e11) (Both e398 e13));
  Claim [e396] (Either (Both e399 e400) (Both e401 (Negation e400)));
  Claim [e396; e13] (Both (AtMost (Num_ 0) e405) (AtMost e405 (Num_ 10)));
  Claim [e396; e13] (Equal e406 (Shift e407 (Low e405 (Num_ 10))));
  Claim [e396; e13] (Both (AtMost (Num_ (-14)) e404) (Less e406 (Num_ 2048)));
  Claim [e408; e396; e13] e409;
  Claim [(Negation e408); e396; e13] (Either (AtMost (Num_ 1024) e406) e409);
  Claim [] (Either (Both e414 e417) (Both e418 e419));
  Claim [e419] (Either (Both e420 e11) (Both e421 e13));
  Claim [e419] (Either (Both e422 e423) (Both e424 (Negation e423)));
  Claim [e419; e13] (Both (AtMost (Num_ 0) e428) (AtMost e428 (Num_ 10)));
  Claim [e419; e13] (Equal e429 (Shift e430 (Low e428 (Num_ 10))));
  Claim [e419; e13] (Both (AtMost (Num_ (-14)) e427) (Less e429 (Num_ 2048)));
  Claim [e431; e419; e13] e432;
  Claim [(Negation e431); e419; e13] (Either (AtMost (Num_ 1024) e429) e432);
  Claim [e395; e398] (Equal (U 4045) e406);
  Claim [e418; e421] (Equal (U 4060) e429);
  Claim [] (Either (Both (Is 4080) e433) (Both e434 e435));
  Claim [e435] (Either (Both (Is 4083) e436) (Both e437 e438));
  Claim [e435] (Either (Both (Is 4070) e439) (Both e440 (Negation e439)));
  Claim [e435; e438] (Equal e441 (Plus e404 e427));
  Claim [] (Equal (U 4071) (Times (U 4045) (U 4060)));
  Claim [] (Either (Both e446 e449) (Both e450 e451));
  Claim [e451] (Either (Both e452 e11) (Both e453 e13));
  Claim [e451] (Either (Both e454 e455) (Both e456 (Negation e455)));
  Claim [e451; e13] (Both (AtMost (Num_ 0) e460) (AtMost e460 (Num_ 10)));
  Claim [e451; e13] (Equal e461 (Shift e462 (Low e460 (Num_ 10))));
  Claim [e451; e13] (Both (AtMost (Num_ (-14)) e459) (Less e461 (Num_ 2048)));
  Claim [e463; e451; e13] e464;
  Claim [(Negation e463); e451; e13] (Either (AtMost (Num_ 1024) e461) e464);
  Claim [] (Either (Both e469 e472) (Both e473 e474));
  Claim [e474] (Either (Both e475 e11) (Both e476 e13));
  Claim [e474] (Either (Both e477 e478) (Both e479 (Negation e478)));
  Claim [e474; e13] (Both (AtMost (Num_ 0) e483) (AtMost e483 (Num_ 10)));
  Claim [e474; e13] (Equal e484 (Shift e485 (Low e483 (Num_ 10))));
  Claim [e474; e13] (Both (AtMost (Num_ (-14)) e482) (Less e484 (Num_ 2048)));
  Claim [e486; e474; e13] e487;
  Claim [(Negation e486); e474; e13] (Either (AtMost (Num_ 1024) e484) e487);
  Claim [e450; e453] (Equal (U 3439) e461);
  Claim [e473; e476] (Equal (U 3454) e484);
  Claim [] (Either (Both (Is 3474) e488) (Both e489 e490));
  Claim [e490] (Either (Both (Is 3477) e491) (Both e492 e493));
  Claim [e490] (Either (Both (Is 3464) e494) (Both e495 (Negation e494)));
  Claim [e490; e493] (Equal e496 (Plus e459 e482));
  Claim [] (Equal (U 3465) (Times (U 3439) (U 3454)));
  Claim [] (Either (Both e501 e504) (Both e505 e506));
  Claim [e506] (Either (Both e507 e11) (Both e508 e13));
  Claim [e506] (Either (Both e509 e510) (Both e511 (Negation e510)));
  Claim [e506; e13] (Both (AtMost (Num_ 0) e515) (AtMost e515 (Num_ 10)));
  Claim [e506; e13] (Equal e516 (Shift e517 (Low e515 (Num_ 10))));
  Claim [e506; e13] (Both (AtMost (Num_ (-14)) e514) (Less e516 (Num_ 2048)));
  Claim [e518; e506; e13] e519;
  Claim [(Negation e518); e506; e13] (Either (AtMost (Num_ 1024) e516) e519);
  Claim [] (Either (Both e524 e527) (Both e528 e529));
  Claim [e529] (Either (Both e530 e11) (Both e531 e13));
  Claim [e529] (Either (Both e532 e533) (Both e534 (Negation e533)));
  Claim [e529; e13] (Both (AtMost (Num_ 0) e538) (AtMost e538 (Num_ 10)));
  Claim [e529; e13] (Equal e539 (Shift e540 (Low e538 (Num_ 10))));
  Claim [e529; e13] (Both (AtMost (Num_ (-14)) e537) (Less e539 (Num_ 2048)));
  Claim [e541; e529; e13] e542;
  Claim [(Negation e541); e529; e13] (Either (AtMost (Num_ 1024) e539) e542);
  Claim [e505; e508] (Equal (U 3483) e516);
  Claim [e528; e531] (Equal (U 3498) e539);
  Claim [] (Either (Both (Is 3518) e543) (Both e544 e545));
  Claim [e545] (Either (Both (Is 3521) e546) (Both e547 e548));
  Claim [e545] (Either (Both (Is 3508) e549) (Both e550 (Negation e549)));
  Claim [e545; e548] (Equal e551 (Plus e514 e537));
  Claim [] (Equal (U 3509) (Times (U 3483) (U 3498)));
  Claim [] (Either (Both e556 e559) (Both e560 e561));
  Claim [e561] (Either (Both e562 e11) (Both e563 e13));
  Claim [e561] (Either (Both e564 e565) (Both e566 (Negation e565)));
  Claim [e561; e13] (Both (AtMost (Num_ 0) e570) (AtMost e570 (Num_ 10)));
  Claim [e561; e13] (Equal e571 (Shift e572 (Low e570 (Num_ 10))));
  Claim [e561; e13] (Both (AtMost (Num_ (-14)) e569) (Less e571 (Num_ 2048)));
  Claim [e573; e561; e13] e574;
  Claim [(Negation e573); e561; e13] (Either (AtMost (Num_ 1024) e571) e574);
  Claim [] (Either (Both e579 e582) (Both e583 e584));
  Claim [e584] (Either (Both e585 e11) (Both e586 e13));
  Claim [e584] (Either (Both e587 e588) (Both e589 (Negation e588)));
  Claim [e584; e13] (Both (AtMost (Num_ 0) e593) (AtMost e593 (Num_ 10)));
  Claim [e584; e13] (Equal e594 (Shift e595 (Low e593 (Num_ 10))));
  Claim [e584; e13] (Both (AtMost (Num_ (-14)) e592) (Less e594 (Num_ 2048)));
  Claim [e596; e584; e13] e597;
  Claim [(Negation e596); e584; e13] (Either (AtMost (Num_ 1024) e594) e597);
  Claim [e560; e563] (Equal (U 4089) e571);
  Claim [e583; e586] (Equal (U 4104) e594);
  Claim [] (Either (Both (Is 4124) e598) (Both e599 e600));
  Claim [e600] (Either (Both (Is 4127) e601) (Both e602 e603));
  Claim [e600] (Either (Both (Is 4114) e604) (Both e605 (Negation e604)));
  Claim [e600; e603] (Equal e606 (Plus e569 e592));
  Claim [] (Equal (U 4115) (Times (U 4089) (U 4104)));
  Claim [] (Either (Both e611 e614) (Both e615 e616));
  Claim [e616] (Either (Both e617 e11) (Both e618 e13));
  Claim [e616] (Either (Both e619 e620) (Both e621 (Negation e620)));
  Claim [e616; e13] (Both (AtMost (Num_ 0) e625) (AtMost e625 (Num_ 10)));
  Claim [e616; e13] (Equal e626 (Shift e627 (Low e625 (Num_ 10))));
  Claim [e616; e13] (Both (AtMost (Num_ (-14)) e624) (Less e626 (Num_ 2048)));
  Claim [e628; e616; e13] e629;
  Claim [(Negation e628); e616; e13] (Either (AtMost (Num_ 1024) e626) e629);
  Claim [] (Either (Both e634 e637) (Both e638 e639));
  Claim [e639] (Either (Both e640 e11) (Both e641 e13));
  Claim [e639] (Either (Both e642 e643) (Both e644 (Negation e643)));
  Claim [e639; e13] (Both (AtMost (Num_ 0) e648) (AtMost e648 (Num_ 10)));
  Claim [e639; e13] (Equal e649 (Shift e650 (Low e648 (Num_ 10))));
  Claim [e639; e13] (Both (AtMost (Num_ (-14)) e647) (Less e649 (Num_ 2048)));
  Claim [e651; e639; e13] e652;
  Claim [(Negation e651); e639; e13] (Either (AtMost (Num_ 1024) e649) e652);
  Claim [e615; e618] (Equal (U 4133) e626);
  Claim [e638; e641] (Equal (U 4148) e649);
  Claim [] (Either (Both (Is 4168) e653) (Both e654 e655));
  Claim [e655] (Either (Both (Is 4171) e656) (Both e657 e658));
  Claim [e655] (Either (Both (Is 4158) e659) (Both e660 (Negation e659)));
  Claim [e655; e658] (Equal e661 (Plus e624 e647));
  Claim [] (Equal (U 4159) (Times (U 4133) (U 4148)));
  Claim [] (Either (Both e666 e669) (Both e670 e671));
  Claim [e671] (Either (Both e672 e11) (Both e673 e13));
  Claim [e671] (Either (Both e674 e675) (Both e676 (Negation e675)));
  Claim [e671; e13] (Both (AtMost (Num_ 0) e680) (AtMost e680 (Num_ 10)));
  Claim [e671; e13] (Equal e681 (Shift e682 (Low e680 (Num_ 10))));
  Claim [e671; e13] (Both (AtMost (Num_ (-14)) e679) (Less e681 (Num_ 2048)));
  Claim [e683; e671; e13] e684;
  Claim [(Negation e683); e671; e13] (Either (AtMost (Num_ 1024) e681) e684);
  Claim [] (Either (Both e689 e692) (Both e693 e694));
  Claim [e694] (Either (Both e695 e11) (Both e696 e13));
  Claim [e694] (Either (Both e697 e698) (Both e699 (Negation e698)));
  Claim [e694; e13] (Both (AtMost (Num_ 0) e703) (AtMost e703 (Num_ 10)));
  Claim [e694; e13] (Equal e704 (Shift e705 (Low e703 (Num_ 10))));
  Claim [e694; e13] (Both (AtMost (Num_ (-14)) e702) (Less e704 (Num_ 2048)));
  Claim [e706; e694; e13] e707;
  Claim [(Negation e706); e694; e13] (Either (AtMost (Num_ 1024) e704) e707);
  Claim [e670; e673] (Equal (U 3527) e681);
  Claim [e693; e696] (Equal (U 3542) e704);
  Claim [] (Either (Both (Is 3562) e708) (Both e709 e710));
  Claim [e710] (Either (Both (Is 3565) e711) (Both e712 e713));
  Claim [e710] (Either (Both (Is 3552) e714) (Both e715 (Negation e714)));
  Claim [e710; e713] (Equal e716 (Plus e679 e702));
  Claim [] (Equal (U 3553) (Times (U 3527) (U 3542)));
  Claim [] (Either (Both e721 e724) (Both e725 e726));
  Claim [e726] (Either (Both e727 e11) (Both e728 e13));
  Claim [e726] (Either (Both e729 e730) (Both e731 (Negation e730)));
  Claim [e726; e13] (Both (AtMost (Num_ 0) e735) (AtMost e735 (Num_ 10)));
  Claim [e726; e13] (Equal e736 (Shift e737 (Low e735 (Num_ 10))));
  Claim [e726; e13] (Both (AtMost (Num_ (-14)) e734) (Less e736 (Num_ 2048)));
  Claim [e738; e726; e13] e739;
  Claim [(Negation e738); e726; e13] (Either (AtMost (Num_ 1024) e736) e739);
  Claim [] (Either (Both e744 e747) (Both e748 e749));
  Claim [e749] (Either (Both e750 e11) (Both e751 e13));
  Claim [e749] (Either (Both e752 e753) (Both e754 (Negation e753)));
  Claim [e749; e13] (Both (AtMost (Num_ 0) e758) (AtMost e758 (Num_ 10)));
  Claim [e749; e13] (Equal e759 (Shift e760 (Low e758 (Num_ 10))));
  Claim [e749; e13] (Both (AtMost (Num_ (-14)) e757) (Less e759 (Num_ 2048)));
  Claim [e761; e749; e13] e762;
  Claim [(Negation e761); e749; e13] (Either (AtMost (Num_ 1024) e759) e762);
  Claim [e725; e728] (Equal (U 3571) e736);
  Claim [e748; e751] (Equal (U 3586) e759);
  Claim [] (Either (Both (Is 3606) e763) (Both e764 e765));
  Claim [e765] (Either (Both (Is 3609) e766) (Both e767 e768));
  Claim [e765] (Either (Both (Is 3596) e769) (Both e770 (Negation e769)));
  Claim [e765; e768] (Equal e771 (Plus e734 e757));
  Claim [] (Equal (U 3597) (Times (U 3571) (U 3586)));
  Claim [] (Either (Both e776 e779) (Both e780 e781));
  Claim [e781] (Either (Both e782 e11) (Both e783 e13));
  Claim [e781] (Either (Both e784 e785) (Both e786 (Negation e785)));
  Claim [e781; e13] (Both (AtMost (Num_ 0) e790) (AtMost e790 (Num_ 10)));
  Claim [e781; e13] (Equal e791 (Shift e792 (Low e790 (Num_ 10))));
  Claim [e781; e13] (Both (AtMost (Num_ (-14)) e789) (Less e791 (Num_ 2048)));
  Claim [e793; e781; e13] e794;
  Claim [(Negation e793); e781; e13] (Either (AtMost (Num_ 1024) e791) e794);
  Claim [] (Either (Both e799 e802) (Both e803 e804));
  Claim [e804] (Either (Both e805 e11) (Both e806 e13));
  Claim [e804] (Either (Both e807 e808) (Both e809 (Negation e808)));
  Claim [e804; e13] (Both (AtMost (Num_ 0) e813) (AtMost e813 (Num_ 10)));
  Claim [e804; e13] (Equal e814 (Shift e815 (Low e813 (Num_ 10))));
  Claim [e804; e13] (Both (AtMost (Num_ (-14)) e812) (Less e814 (Num_ 2048)));
  Claim [e816; e804; e13] e817;
  Claim [(Negation e816); e804; e13] (Either (AtMost (Num_ 1024) e814) e817);
  Claim [e780; e783] (Equal (U 4177) e791);
  Claim [e803; e806] (Equal (U 4192) e814);
  Claim [] (Either (Both (Is 4212) e818) (Both e819 e820));
  Claim [e820] (Either (Both (Is 4215) e821) (Both e822 e823));
  Claim [e820] (Either (Both (Is 4202) e824) (Both e825 (Negation e824)));
  Claim [e820; e823] (Equal e826 (Plus e789 e812));
  Claim [] (Equal (U 4203) (Times (U 4177) (U 4192)));
  Claim [] (Either (Both e831 e834) (Both e835 e836));
  Claim [e836] (Either (Both e837 e11) (Both e838 e13));
  Claim [e836] (Either (Both e839 e840) (Both e841 (Negation e840)));
  Claim [e836; e13] (Both (AtMost (Num_ 0) e845) (AtMost e845 (Num_ 10)));
  Claim [e836; e13] (Equal e846 (Shift e847 (Low e845 (Num_ 10))));
  Claim [e836; e13] (Both (AtMost (Num_ (-14)) e844) (Less e846 (Num_ 2048)));
  Claim [e848; e836; e13] e849;
  Claim [(Negation e848); e836; e13] (Either (AtMost (Num_ 1024) e846) e849);
  Claim [] (Either (Both e854 e857) (Both e858 e859));
  Claim [e859] (Either (Both e860 e11) (Both e861 e13));
  Claim [e859] (Either (Both e862 e863) (Both e864 (Negation e863)));
  Claim [e859; e13] (Both (AtMost (Num_ 0) e868) (AtMost e868 (Num_ 10)));
  Claim [e859; e13] (Equal e869 (Shift e870 (Low e868 (Num_ 10))));
  Claim [e859; e13] (Both (AtMost (Num_ (-14)) e867) (Less e869 (Num_ 2048)));
  Claim [e871; e859; e13] e872;
  Claim [(Negation e871); e859; e13] (Either (AtMost (Num_ 1024) e869) e872);
  Claim [e835; e838] (Equal (U 4221) e846);
  Claim [e858; e861] (Equal (U 4236) e869);
  Claim [] (Either (Both (Is 4256) e873) (Both e874 e875));
  Claim [e875] (Either (Both (Is 4259) e876) (Both e877 e878));
  Claim [e875] (Either (Both (Is 4246) e879) (Both e880 (Negation e879)));
  Claim [e875; e878] (Equal e881 (Plus e844 e867));
  Claim [] (Equal (U 4247) (Times (U 4221) (U 4236)));
  Claim [e887; e889] (Equal (U 4566) (If e890 e884 (Plus e884 (Num_ 1024))));
  Claim [] (Either (Both (Is 4573) e886) (Both e891 e887));
  Claim [e887] (Either (Both (Is 4571) e888) (Both e892 e889));
  Claim [e887] (Either (Both (Is 4562) e893) (Both e894 (Negation e893)));
  Claim [e887; e889] (Equal e895 (If e890 (Num_ (-14)) (Minus e882 (Num_ 15))));
  Claim [] (Equal (U 4566) (U 4566));
  Claim [e896] e897;
  Claim [e896] (Either (Both (Is 3293) e898) (Both e899 (Negation e898)));
  Claim [e900] e901;
  Claim [e900] (Either (Both (Is 3337) e902) (Both e903 (Negation e902)));
  Claim [e904] e905;
  Claim [e904] (Either (Both (Is 3381) e906) (Both e907 (Negation e906)));
  Claim [e908] e909;
  Claim [e908] (Either (Both (Is 3425) e910) (Both e911 (Negation e910)));
  Claim [e912] e913;
  Claim [e912] (Either (Both (Is 3469) e914) (Both e915 (Negation e914)));
  Claim [e916] e917;
  Claim [e916] (Either (Both (Is 3513) e918) (Both e919 (Negation e918)));
  Claim [e920] e921;
  Claim [e920] (Either (Both (Is 3557) e922) (Both e923 (Negation e922)));
  Claim [e924] e925;
  Claim [e924] (Either (Both (Is 3601) e926) (Both e927 (Negation e926)));
  Claim [e929] e930;
  Claim [e929] (Either (Both (Is 3253) e931) (Both e932 (Negation e931)));
  Claim [e10; e897; e901; e905; e909; e913; e917; e921; e925; e930] (AtMost e933 e934);
  Claim [e899; e897; e901; e905; e909; e913; e917; e921; e925; e930] (Equal (U 3640) (Minus e934 e56));
  Claim [] (Both (AtMost (Times (Shift (U 3642) e935) (Num_ 1)) e936) (Less e936 (Times (Shift (Plus (U 3642) (Num_ 1)) e935) (Num_ 1))));
  Claim [] (AtMost (U 3642) e937);
  Claim [e10; e897; e901; e905; e909; e913; e917; e921; e925; e930] (AtMost e938 e934);
  Claim [e903; e897; e901; e905; e909; e913; e917; e921; e925; e930] (Equal (U 3643) (Minus e934 e111));
  Claim [] (Both (AtMost (Times (Shift (U 3645) e939) (Num_ 1)) e940) (Less e940 (Times (Shift (Plus (U 3645) (Num_ 1)) e939) (Num_ 1))));
  Claim [] (AtMost (U 3645) e937);
  Claim [e10; e897; e901; e905; e909; e913; e917; e921; e925; e930] (AtMost e941 e934);
  Claim [e907; e897; e901; e905; e909; e913; e917; e921; e925; e930] (Equal (U 3646) (Minus e934 e276));
  Claim [] (Both (AtMost (Times (Shift (U 3648) e942) (Num_ 1)) e943) (Less e943 (Times (Shift (Plus (U 3648) (Num_ 1)) e942) (Num_ 1))));
  Claim [] (AtMost (U 3648) e937);
  Claim [e10; e897; e901; e905; e909; e913; e917; e921; e925; e930] (AtMost e944 e934);
  Claim [e911; e897; e901; e905; e909; e913; e917; e921; e925; e930] (Equal (U 3649) (Minus e934 e331));
  Claim [] (Both (AtMost (Times (Shift (U 3651) e945) (Num_ 1)) e946) (Less e946 (Times (Shift (Plus (U 3651) (Num_ 1)) e945) (Num_ 1))));
  Claim [] (AtMost (U 3651) e937);
  Claim [e10; e897; e901; e905; e909; e913; e917; e921; e925; e930] (AtMost e947 e934);
  Claim [e915; e897; e901; e905; e909; e913; e917; e921; e925; e930] (Equal (U 3652) (Minus e934 e496));
  Claim [] (Both (AtMost (Times (Shift (U 3654) e948) (Num_ 1)) e949) (Less e949 (Times (Shift (Plus (U 3654) (Num_ 1)) e948) (Num_ 1))));
  Claim [] (AtMost (U 3654) e937);
  Claim [e10; e897; e901; e905; e909; e913; e917; e921; e925; e930] (AtMost e950 e934);
  Claim [e919; e897; e901; e905; e909; e913; e917; e921; e925; e930] (Equal (U 3655) (Minus e934 e551));
  Claim [] (Both (AtMost (Times (Shift (U 3657) e951) (Num_ 1)) e952) (Less e952 (Times (Shift (Plus (U 3657) (Num_ 1)) e951) (Num_ 1))));
  Claim [] (AtMost (U 3657) e937);
  Claim [e10; e897; e901; e905; e909; e913; e917; e921; e925; e930] (AtMost e953 e934);
  Claim [e923; e897; e901; e905; e909; e913; e917; e921; e925; e930] (Equal (U 3658) (Minus e934 e716));
  Claim [] (Both (AtMost (Times (Shift (U 3660) e954) (Num_ 1)) e955) (Less e955 (Times (Shift (Plus (U 3660) (Num_ 1)) e954) (Num_ 1))));
  Claim [] (AtMost (U 3660) e937);
  Claim [e10; e897; e901; e905; e909; e913; e917; e921; e925; e930] (AtMost e956 e934);
  Claim [e927; e897; e901; e905; e909; e913; e917; e921; e925; e930] (Equal (U 3661) (Minus e934 e771));
  Claim [] (Both (AtMost (Times (Shift (U 3663) e957) (Num_ 1)) e958) (Less e958 (Times (Shift (Plus (U 3663) (Num_ 1)) e957) (Num_ 1))));
  Claim [] (AtMost (U 3663) e937);
  Claim [e10; e897; e901; e905; e909; e913; e917; e921; e925; e930] (AtMost e960 e934);
  Claim [e932; e897; e901; e905; e909; e913; e917; e921; e925; e930] (Equal (U 3638) (Minus e934 e959));
  Claim [] (Both (AtMost (Times (Shift (U 3666) e961) (Num_ 1)) e962) (Less e962 (Times (Shift (Plus (U 3666) (Num_ 1)) e961) (Num_ 1))));
  Claim [] (AtMost (U 3666) e963);
  Claim [e897; e901; e905; e909; e913; e917; e921; e925; e930] (Either e964 (Either (Both e10 (Equal e933 e934)) (Either (Both e10 (Equal e938 e934)) (Either (Both e10 (Equal e941 e934)) (Either (Both e10 (Equal e944 e934)) (Either (Both e10 (Equal e947 e934)) (Either (Both e10 (Equal e950 e934)) (Either (Both e10 (Equal e953 e934)) (Either (Both e10 (Equal e956 e934)) (Either (Both e10 (Equal e960 e934)) e11))))))))));
  Claim [e897; e901; e905; e909; e913; e917; e921; e925; e930] e965;
  Claim [(Both (AtMost e966 (Sg 3709)) (AtMost (Sg 3709) e967))] (Equal (Sg 3710) (Sg 3709));
  Claim [(Both (AtMost e968 (Sg 3708)) (AtMost (Sg 3708) e969)); (Both (AtMost e970 (Sg 3701)) (AtMost (Sg 3701) e963))] (Equal (Sg 3709) (Plus (Sg 3708) (Sg 3701)));
  Claim [(Both (AtMost e971 (Sg 3706)) (AtMost (Sg 3706) e972)); (Both (AtMost e971 (Sg 3707)) (AtMost (Sg 3707) e972))] (Equal (Sg 3708) (Plus (Sg 3706) (Sg 3707)));
  Claim [(Both (AtMost e973 (Sg 3702)) (AtMost (Sg 3702) e974)); (Both (AtMost e973 (Sg 3703)) (AtMost (Sg 3703) e974))] (Equal (Sg 3706) (Plus (Sg 3702) (Sg 3703)));
  Claim [(Both (AtMost e975 (Sg 3693)) (AtMost (Sg 3693) e937)); (Both (AtMost e975 (Sg 3694)) (AtMost (Sg 3694) e937))] (Equal (Sg 3702) (Plus (Sg 3693) (Sg 3694)));
  Claim [] (Equal (Sg 3693) (If (Is 3288) (Minus (Num_ 0) (U 3642)) (U 3642)));
  Claim [] (Equal (Sg 3694) (If (Is 3332) (Minus (Num_ 0) (U 3645)) (U 3645)));
  Claim [(Both (AtMost e975 (Sg 3695)) (AtMost (Sg 3695) e937)); (Both (AtMost e975 (Sg 3696)) (AtMost (Sg 3696) e937))] (Equal (Sg 3703) (Plus (Sg 3695) (Sg 3696)));
  Claim [] (Equal (Sg 3695) (If (Is 3376) (Minus (Num_ 0) (U 3648)) (U 3648)));
  Claim [] (Equal (Sg 3696) (If (Is 3420) (Minus (Num_ 0) (U 3651)) (U 3651)));
  Claim [(Both (AtMost e973 (Sg 3704)) (AtMost (Sg 3704) e974)); (Both (AtMost e973 (Sg 3705)) (AtMost (Sg 3705) e974))] (Equal (Sg 3707) (Plus (Sg 3704) (Sg 3705)));
  Claim [(Both (AtMost e975 (Sg 3697)) (AtMost (Sg 3697) e937)); (Both (AtMost e975 (Sg 3698)) (AtMost (Sg 3698) e937))] (Equal (Sg 3704) (Plus (Sg 3697) (Sg 3698)));
  Claim [] (Equal (Sg 3697) (If (Is 3464) (Minus (Num_ 0) (U 3654)) (U 3654)));
  Claim [] (Equal (Sg 3698) (If (Is 3508) (Minus (Num_ 0) (U 3657)) (U 3657)));
  Claim [(Both (AtMost e975 (Sg 3699)) (AtMost (Sg 3699) e937)); (Both (AtMost e975 (Sg 3700)) (AtMost (Sg 3700) e937))] (Equal (Sg 3705) (Plus (Sg 3699) (Sg 3700)));
  Claim [] (Equal (Sg 3699) (If (Is 3552) (Minus (Num_ 0) (U 3660)) (U 3660)));
  Claim [] (Equal (Sg 3700) (If (Is 3596) (Minus (Num_ 0) (U 3663)) (U 3663)));
  Claim [] (Equal (Sg 3701) (If (Is 49) (Minus (Num_ 0) (U 3666)) (U 3666)));
  Claim [e976; e977; e965] e979;
  Claim [e980; e977; e965] e981;
  Claim [e980; (AtMost e982 e983); e977; e965] (Both (Equal (U 3802) (Shift e984 (Low (Minus e983 e982) (Num_ 11)))) e978);
  Claim [e980; e985; e977; e965] (Both (AtMost e987 e984) (Less e984 (Shift (Plus (U 3802) (Num_ 1)) e986)));
  Claim [e980; e985; e977; e965] (Either (Both (Is 3810) e991) (Both e978 (Negation e991)));
  Claim [] (Either (Both (Is 3874) e994) (Both e995 e996));
  Claim [e996; e997] (Both (Is 3878) (Either (Both (Is 3880) e993) (Both e998 (Negation e993))));
  Claim [e996; e999; e1000; e1001] (Either (Both (Is 3878) e1008) (Both e1009 e1010));
  Claim [e996; e999; e1000; e1001] (Either (Both (Is 3880) e1011) (Both e998 (Negation e1011)));
  Claim [e1010; e996; e999; e1000; e1001] (Equal (U 3816) (If e1003 (Num_ 0) (If e1007 (Num_ 2047) (If e1005 (Num_ 1024) e1002))));
  Claim [e1010; e996; e999; e1000; e1001] (Equal e1012 (If e1003 (Num_ (-14)) (If e1007 (Num_ 15) (Plus (Num_ (-14)) e1006))));
  Claim [] (Either (Both (Is 3905) (Is 3874)) (Both e1013 e995));
  Claim [e995] (Either (Both (Is 3903) (Is 3878)) (Both e1014 e1009));
  Claim [e995] (Either (Both (Is 3894) (Is 3880)) (Both e1015 e998));
  Claim [e995; e1009] (Equal e1016 e1012);
  Claim [e995; e1009] (Equal (U 3898) (U 3816));
  Claim [e1017] e1018;
  Claim [e1017] (Either (Both (Is 3943) e1019) (Both e1020 (Negation e1019)));
  Claim [e1021] e1022;
  Claim [e1021] (Either (Both (Is 3987) e1023) (Both e1024 (Negation e1023)));
  Claim [e1025] e1026;
  Claim [e1025] (Either (Both (Is 4031) e1027) (Both e1028 (Negation e1027)));
  Claim [e1029] e1030;
  Claim [e1029] (Either (Both (Is 4075) e1031) (Both e1032 (Negation e1031)));
  Claim [e1033] e1034;
  Claim [e1033] (Either (Both (Is 4119) e1035) (Both e1036 (Negation e1035)));
  Claim [e1037] e1038;
  Claim [e1037] (Either (Both (Is 4163) e1039) (Both e1040 (Negation e1039)));
  Claim [e1041] e1042;
  Claim [e1041] (Either (Both (Is 4207) e1043) (Both e1044 (Negation e1043)));
  Claim [e1045] e1046;
  Claim [e1045] (Either (Both (Is 4251) e1047) (Both e1048 (Negation e1047)));
  Claim [e1049] e1050;
  Claim [e1049] (Either (Both (Is 3901) e1051) (Both e1052 (Negation e1051)));
  Claim [e10; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (AtMost e1053 e1054);
  Claim [e1020; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Equal (U 4290) (Minus e1054 e166));
  Claim [] (Both (AtMost (Times (Shift (U 4292) e1055) (Num_ 1)) e1056) (Less e1056 (Times (Shift (Plus (U 4292) (Num_ 1)) e1055) (Num_ 1))));
  Claim [] (AtMost (U 4292) e937);
  Claim [e10; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (AtMost e1057 e1054);
  Claim [e1024; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Equal (U 4293) (Minus e1054 e221));
  Claim [] (Both (AtMost (Times (Shift (U 4295) e1058) (Num_ 1)) e1059) (Less e1059 (Times (Shift (Plus (U 4295) (Num_ 1)) e1058) (Num_ 1))));
  Claim [] (AtMost (U 4295) e937);
  Claim [e10; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (AtMost e1060 e1054);
  Claim [e1028; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Equal (U 4296) (Minus e1054 e386));
  Claim [] (Both (AtMost (Times (Shift (U 4298) e1061) (Num_ 1)) e1062) (Less e1062 (Times (Shift (Plus (U 4298) (Num_ 1)) e1061) (Num_ 1))));
  Claim [] (AtMost (U 4298) e937);
  Claim [e10; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (AtMost e1063 e1054);
  Claim [e1032; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Equal (U 4299) (Minus e1054 e441));
  Claim [] (Both (AtMost (Times (Shift (U 4301) e1064) (Num_ 1)) e1065) (Less e1065 (Times (Shift (Plus (U 4301) (Num_ 1)) e1064) (Num_ 1))));
  Claim [] (AtMost (U 4301) e937);
  Claim [e10; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (AtMost e1066 e1054);
  Claim [e1036; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Equal (U 4302) (Minus e1054 e606));
  Claim [] (Both (AtMost (Times (Shift (U 4304) e1067) (Num_ 1)) e1068) (Less e1068 (Times (Shift (Plus (U 4304) (Num_ 1)) e1067) (Num_ 1))));
  Claim [] (AtMost (U 4304) e937);
  Claim [e10; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (AtMost e1069 e1054);
  Claim [e1040; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Equal (U 4305) (Minus e1054 e661));
  Claim [] (Both (AtMost (Times (Shift (U 4307) e1070) (Num_ 1)) e1071) (Less e1071 (Times (Shift (Plus (U 4307) (Num_ 1)) e1070) (Num_ 1))));
  Claim [] (AtMost (U 4307) e937);
  Claim [e10; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (AtMost e1072 e1054);
  Claim [e1044; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Equal (U 4308) (Minus e1054 e826));
  Claim [] (Both (AtMost (Times (Shift (U 4310) e1073) (Num_ 1)) e1074) (Less e1074 (Times (Shift (Plus (U 4310) (Num_ 1)) e1073) (Num_ 1))));
  Claim [] (AtMost (U 4310) e937);
  Claim [e10; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (AtMost e1075 e1054);
  Claim [e1048; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Equal (U 4311) (Minus e1054 e881));
  Claim [] (Both (AtMost (Times (Shift (U 4313) e1076) (Num_ 1)) e1077) (Less e1077 (Times (Shift (Plus (U 4313) (Num_ 1)) e1076) (Num_ 1))));
  Claim [] (AtMost (U 4313) e937);
  Claim [e10; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (AtMost e1078 e1054);
  Claim [e1052; e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Equal (U 4314) (Minus e1054 e1016));
  Claim [] (Both (AtMost (Times (Shift (U 4316) e1079) (Num_ 1)) e1080) (Less e1080 (Times (Shift (Plus (U 4316) (Num_ 1)) e1079) (Num_ 1))));
  Claim [] (AtMost (U 4316) e963);
  Claim [e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] (Either e964 (Either (Both e10 (Equal e1053 e1054)) (Either (Both e10 (Equal e1057 e1054)) (Either (Both e10 (Equal e1060 e1054)) (Either (Both e10 (Equal e1063 e1054)) (Either (Both e10 (Equal e1066 e1054)) (Either (Both e10 (Equal e1069 e1054)) (Either (Both e10 (Equal e1072 e1054)) (Either (Both e10 (Equal e1075 e1054)) (Either (Both e10 (Equal e1078 e1054)) e11))))))))));
  Claim [e1018; e1022; e1026; e1030; e1034; e1038; e1042; e1046; e1050] e1081;
  Claim [(Both (AtMost e966 (Sg 4360)) (AtMost (Sg 4360) e967))] (Equal (Sg 4361) (Sg 4360));
  Claim [(Both (AtMost e968 (Sg 4359)) (AtMost (Sg 4359) e969)); (Both (AtMost e970 (Sg 4352)) (AtMost (Sg 4352) e963))] (Equal (Sg 4360) (Plus (Sg 4359) (Sg 4352)));
  Claim [(Both (AtMost e971 (Sg 4357)) (AtMost (Sg 4357) e972)); (Both (AtMost e971 (Sg 4358)) (AtMost (Sg 4358) e972))] (Equal (Sg 4359) (Plus (Sg 4357) (Sg 4358)));
  Claim [(Both (AtMost e973 (Sg 4353)) (AtMost (Sg 4353) e974)); (Both (AtMost e973 (Sg 4354)) (AtMost (Sg 4354) e974))] (Equal (Sg 4357) (Plus (Sg 4353) (Sg 4354)));
  Claim [(Both (AtMost e975 (Sg 4344)) (AtMost (Sg 4344) e937)); (Both (AtMost e975 (Sg 4345)) (AtMost (Sg 4345) e937))] (Equal (Sg 4353) (Plus (Sg 4344) (Sg 4345)));
  Claim [] (Equal (Sg 4344) (If (Is 3938) (Minus (Num_ 0) (U 4292)) (U 4292)));
  Claim [] (Equal (Sg 4345) (If (Is 3982) (Minus (Num_ 0) (U 4295)) (U 4295)));
  Claim [(Both (AtMost e975 (Sg 4346)) (AtMost (Sg 4346) e937)); (Both (AtMost e975 (Sg 4347)) (AtMost (Sg 4347) e937))] (Equal (Sg 4354) (Plus (Sg 4346) (Sg 4347)));
  Claim [] (Equal (Sg 4346) (If (Is 4026) (Minus (Num_ 0) (U 4298)) (U 4298)));
  Claim [] (Equal (Sg 4347) (If (Is 4070) (Minus (Num_ 0) (U 4301)) (U 4301)));
  Claim [(Both (AtMost e973 (Sg 4355)) (AtMost (Sg 4355) e974)); (Both (AtMost e973 (Sg 4356)) (AtMost (Sg 4356) e974))] (Equal (Sg 4358) (Plus (Sg 4355) (Sg 4356)));
  Claim [(Both (AtMost e975 (Sg 4348)) (AtMost (Sg 4348) e937)); (Both (AtMost e975 (Sg 4349)) (AtMost (Sg 4349) e937))] (Equal (Sg 4355) (Plus (Sg 4348) (Sg 4349)));
  Claim [] (Equal (Sg 4348) (If (Is 4114) (Minus (Num_ 0) (U 4304)) (U 4304)));
  Claim [] (Equal (Sg 4349) (If (Is 4158) (Minus (Num_ 0) (U 4307)) (U 4307)));
  Claim [(Both (AtMost e975 (Sg 4350)) (AtMost (Sg 4350) e937)); (Both (AtMost e975 (Sg 4351)) (AtMost (Sg 4351) e937))] (Equal (Sg 4356) (Plus (Sg 4350) (Sg 4351)));
  Claim [] (Equal (Sg 4350) (If (Is 4202) (Minus (Num_ 0) (U 4310)) (U 4310)));
  Claim [] (Equal (Sg 4351) (If (Is 4246) (Minus (Num_ 0) (U 4313)) (U 4313)));
  Claim [] (Equal (Sg 4352) (If (Is 3894) (Minus (Num_ 0) (U 4316)) (U 4316)));
  Claim [e1082; e1083; e1081] e1085;
  Claim [e1086; e1083; e1081] e1087;
  Claim [e1086; (AtMost e1088 e1089); e1083; e1081] (Both (Equal (U 4452) (Shift e1090 (Low (Minus e1089 e1088) (Num_ 11)))) e1084);
  Claim [e1086; e1091; e1083; e1081] (Both (AtMost e1093 e1090) (Less e1090 (Shift (Plus (U 4452) (Num_ 1)) e1092)));
  Claim [e1086; e1091; e1083; e1081] (Either (Both (Is 4459) e1097) (Both e1084 (Negation e1097)));
  Claim [] (Either (Both (Is 4527) e1100) (Both e1101 e1102));
  Claim [e1102; e1103] (Both (Is 4531) (Either (Both (Is 4533) e1099) (Both e1104 (Negation e1099))));
  Claim [e1102; e1105; e1106; e1107] (Either (Both (Is 4531) e1114) (Both e1115 e1116));
  Claim [e1102; e1105; e1106; e1107] (Either (Both (Is 4533) e1117) (Both e1104 (Negation e1117)));
  Claim [e1116; e1102; e1105; e1106; e1107] (Equal (U 4465) (If e1109 (Num_ 0) (If e1113 (Num_ 2047) (If e1111 (Num_ 1024) e1108))));
  Claim [e1116; e1102; e1105; e1106; e1107] (Equal e1118 (If e1109 (Num_ (-14)) (If e1113 (Num_ 15) (Plus (Num_ (-14)) e1112))));
  Claim [] e1119;
  Claim [e13] e1119;
  Claim [e13] e1119;
  Claim [e13; e13] (Equal e959 (Num_ (-14)));
  Claim [] e931;
  Claim [] (Either (Both (Is 4558) (Is 4527)) (Both e1120 e1101));
  Claim [e1101] (Either (Both (Is 4556) (Is 4531)) (Both e1121 e1115));
  Claim [e1101] (Either (Both (Is 4547) (Is 4533)) (Both e1122 e1104));
  Claim [e1101; e1115] (Equal e1123 e1118);
  Claim [e1101; e1115] (Equal (U 4551) (U 4465));
  Claim [e1124] e1125;
  Claim [e1124] e1129;
  Claim [e1124; e1125; e1129] (Either (Both e1130 e1126) (Both e1131 e1128));
  Claim [e1124; e1128; e1125; e1129] (Both (AtMost (Num_ 0) e1133) (AtMost e1133 (Num_ 11)));
  Claim [e1124; e1128; e1125; e1129] (Equal (U 4595) (Shift (U 4551) (Low e1133 (Num_ 11))));
  Claim [e1124; e1128; e1125; e1129] (AtMost (Num_ 1024) (U 4595));
  Claim [e1134] e1135;
  Claim [e1134] e1139;
  Claim [e1134; e1135; e1139] (Either (Both e1140 e1136) (Both e1141 e1138));
  Claim [e1134; e1138; e1135; e1139] (Both (AtMost (Num_ 0) e1143) (AtMost e1143 (Num_ 11)));
  Claim [e1134; e1138; e1135; e1139] (Equal (U 4624) (Shift (U 4566) (Low e1143 (Num_ 11))));
  Claim [e1134; e1138; e1135; e1139] (AtMost (Num_ 1024) (U 4624));
  Claim [e1124; e1125; e1129] e1144;
  Claim [e1124; e1125; e1129] (Either (Both (Is 4554) e1130) (Both e1127 e1131));
  Claim [e1134; e1135; e1139] e1145;
  Claim [e1134; e1135; e1139] (Either (Both (Is 4569) e1140) (Both e1137 e1141));
  Claim [e1127; e1144; e1145] (AtMost e1132 e1146);
  Claim [e1127; e1144; e1145] (Equal (U 4637) (Minus e1146 e1132));
  Claim [] (Either (Equal (Times (Shift (U 4644) e1147) (Num_ 1)) e1148) (Both (Equal (Bits 0 1 (U 4644)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 4644) (Num_ 1)) e1147) (Num_ 1)) e1148) (Less e1148 (Times (Shift (Plus (U 4644) (Num_ 1)) e1147) (Num_ 1))))));
  Claim [] (AtMost (U 4644) (Num_ 16377));
  Claim [e1137; e1144; e1145] (AtMost e1142 e1146);
  Claim [e1137; e1144; e1145] (Equal (U 4645) (Minus e1146 e1142));
  Claim [] (Either (Equal (Times (Shift (U 4652) e1149) (Num_ 1)) e1150) (Both (Equal (Bits 0 1 (U 4652)) (Num_ 1)) (Both (Less (Times (Shift (Minus (U 4652) (Num_ 1)) e1149) (Num_ 1)) e1150) (Less e1150 (Times (Shift (Plus (U 4652) (Num_ 1)) e1149) (Num_ 1))))));
  Claim [] (AtMost (U 4652) (Num_ 16377));
  Claim [e1144; e1145] (Either (Both (Negation e1127) (Both (Negation e1137) e10)) (Either (Both e1127 (Equal e1132 e1146)) (Either (Both e1137 (Equal e1142 e1146)) e11)));
  Claim [e1144; e1145] e1151;
  Claim [(Both (AtMost e1152 (Sg 4661)) (AtMost (Sg 4661) (Num_ 32754)))] (Equal (Sg 4662) (Sg 4661));
  Claim [(Both (AtMost e1153 (Sg 4659)) (AtMost (Sg 4659) (Num_ 16377))); (Both (AtMost e1153 (Sg 4660)) (AtMost (Sg 4660) (Num_ 16377)))] (Equal (Sg 4661) (Plus (Sg 4659) (Sg 4660)));
  Claim [] (Equal (Sg 4659) (If (Is 4547) (Minus (Num_ 0) (U 4644)) (U 4644)));
  Claim [] (Equal (Sg 4660) (If (Is 4562) (Minus (Num_ 0) (U 4652)) (U 4652)));
  Claim [e1154; e1155; e1151] e1157;
  Claim [e1158; e1155; e1151] e1159;
  Claim [e1158; (AtMost e1160 e1161); e1155; e1151] (Both (Equal (U 4741) (Shift e1162 (Low (Minus e1161 e1160) (Num_ 11)))) e1156);
  Claim [e1158; e1163; e1155; e1151] (Both (AtMost e1165 e1162) (Less e1162 (Shift (Plus (U 4741) (Num_ 1)) e1164)));
  Claim [e1158; e1163; e1155; e1151] (Either (Both (Is 4748) e1169) (Both e1156 (Negation e1169)));
  Claim [] (Either (Both (Is 4774) e1172) (Both e1173 e1174));
  Claim [e1174; e1175] (Both (Is 4778) (Either (Both (Is 4779) e1171) (Both e1176 (Negation e1171))));
  Claim [e1174; e1177; e1178; e1179] (Either (Both (Is 4778) e1186) (Both e1187 e1188));
  Claim [e1174; e1177; e1178; e1179] (Either (Both (Is 4779) e1191) (Both e1176 (Negation e1191)));
  Claim [e1188; e1174; e1177; e1178; e1179] (Equal (U 4754) (If e1181 (Num_ 0) (If e1185 (Num_ 2047) (If e1183 (Num_ 1024) e1180))));
  Claim [e1188; e1174; e1177; e1178; e1179] (Equal e1192 (If e1181 (Num_ (-14)) (If e1185 (Num_ 15) (Plus (Num_ (-14)) e1184))));
  Claim [(Is 4774)] (Equal (U 4791) (Num_ 32767));
  Claim [e1173; (Is 4778)] (Equal (U 4791) (Times (Plus e1193 (Num_ 31744)) (Num_ 1)));
  Claim [e1173; e1187; e1174; e1177; e1178; e1179] (Equal (U 4791) (Times (Plus e1193 (If (Less e1194 (Num_ 1024)) e1194 (Plus (Times (Plus e1192 (Num_ 15)) (Num_ 1024)) (Minus e1194 (Num_ 1024))))) (Num_ 1)))].
Lemma checked : unit_ok unit_circuit unit_design plan = true. Proof. vm_compute. reflexivity. Qed.
Lemma claimed : unit_claims unit_circuit unit_design plan = certified. Proof. vm_compute. reflexivity. Qed.
Theorem refined : Forall (holds unit_circuit) certified ->
  forall v, solution unit_circuit v -> v (root plan) = compute unit_design (words_in plan v).
Proof. rewrite <- claimed. exact (words_to_words _ _ _ checked). Qed.
